#!/usr/bin/env bash
# Makes the broker's data once, with the accounts that must be there before anybody can make one, then becomes the broker;
# what is said behind it (--override name=value) counts before the file.
set -euo pipefail
settings=$(dirname "$0")/server.properties

if [ ! -e /var/lib/kafka/data/meta.properties ]; then
  # It prints what passwords can be guessed from.
  /opt/kafka/bin/kafka-storage.sh format --standalone --cluster-id 5L6g3nShT-eMCtK--X86sw --config "$settings" \
    --add-scram "SCRAM-SHA-512=[name=admin,iterations=4096,password=$ADMIN_PASSWORD]" \
    --add-scram "SCRAM-SHA-512=[name=parley,iterations=4096,password=$PARLEY_PASSWORD]" >/dev/null
fi
exec /opt/kafka/bin/kafka-server-start.sh "$settings" "$@"
