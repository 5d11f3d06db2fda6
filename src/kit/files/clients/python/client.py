"""confluent-kafka for {{accountText}}; the password is in the environment variable PARTNER_PASSWORD.{{byPassword}}
"""confluent-kafka for {{accountText}}, with partner.pem and partner.key.{{byCertificate}}

pip install confluent-kafka, then: python clients/python/client.py
In the sandbox also: PARTNER_BROKERS=localhost:9092 PARTNER_CA=sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byPassword}}
In the sandbox, by password: PARTNER_PASSWORD=… PARTNER_BROKERS=localhost:9092 PARTNER_CA=sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byCertificate}}
"""

import os

from confluent_kafka import Consumer, Producer

AUTHORITY = os.environ.get("PARTNER_CA", "ca.pem")
USERNAME = os.environ.get("PARTNER_USERNAME", "{{username}}")

LOGIN = {
    "client.id": USERNAME,
    "security.protocol": "SASL_SSL",
    "sasl.mechanisms": "SCRAM-SHA-512",
    "sasl.username": USERNAME,
    "sasl.password": os.environ.get("PARTNER_PASSWORD", ""),
}
# {{#byCertificate}}
CERTIFICATE = {
    "client.id": "{{accountText}}",
    "security.protocol": "SSL",
    "ssl.certificate.location": os.environ.get("PARTNER_CERT", "partner.pem"),
    "ssl.key.location": os.environ.get("PARTNER_KEY", "partner.key"),
}
# {{/byCertificate}}
CONNECTION = {
    "bootstrap.servers": os.environ.get("PARTNER_BROKERS", "{{bootstrap}}"),
    **LOGIN,{{byPassword}}
    # Who names an account comes by password, as in the sandbox; otherwise the certificate says who you are.{{byCertificate}}
    **(LOGIN if USERNAME else CERTIFICATE),{{byCertificate}}
    # Without a file the public authorities count.
    **({"ssl.ca.location": AUTHORITY} if os.path.exists(AUTHORITY) else {}),
    "allow.auto.create.topics": False,
}

PRODUCER = {
    **CONNECTION,
    "acks": "all",
    "enable.idempotence": True,
    # As in Java; this client's own default puts the records of an order into another partition than other clients do.
    "partitioner": "murmur2_random",
}

CONSUMER = {
    **CONNECTION,
    "group.id": "{{group}}",
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
}


def make_producer():
    return Producer(PRODUCER)


def make_consumer():
    return Consumer(CONSUMER)


def main():
    consumer = make_consumer()
    consumer.subscribe(["{{requestTopic}}"])
    try:
        while True:
            message = consumer.poll(1.0)
            if message is None:
                continue
            if message.error():
                print(message.error())
                continue
            headers = dict(message.headers() or [])
            print(message.key(), headers.get("ce_type"), len(message.value() or b""), "bytes")
            # Behind your own transaction.
            consumer.commit(message=message, asynchronous=False)
    except KeyboardInterrupt:
        pass
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
