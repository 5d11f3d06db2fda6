#!/usr/bin/env bash
# Makes the broker's certificate, and anew when it is old; its clients trust it and nothing else. Ends at once when it is there.
set -euo pipefail
keys=/etc/kafka/secrets/broker.p12
trusted=/mnt/shared/config/ca.pem
days=825

if [ -n "$(find "$keys" -mtime "-$((days - 30))" 2>/dev/null)" ] && [ -s "$trusted" ]; then exit 0; fi
rm -f "$keys"
keytool -genkeypair -alias broker -keyalg EC -groupname secp256r1 -dname CN=kafka -ext san=dns:kafka,dns:localhost \
  -validity "$days" -storetype PKCS12 -keystore "$keys" -storepass:env KEYSTORE_PASSWORD
chmod 600 "$keys"
keytool -exportcert -rfc -alias broker -keystore "$keys" -storepass:env KEYSTORE_PASSWORD -file "$trusted"
