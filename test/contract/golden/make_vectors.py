"""
Makes vectors.ndjson beside this file: records as Confluent's own Python client writes them, against its in-process registry
("mock://"), and what fastavro reads when writer and reader have different schemas. Run once, and again when a schema or the
wire format changes:

    python3 -m venv venv
    venv/bin/pip install -r test/contract/golden/requirements.txt
    venv/bin/python test/contract/golden/make_vectors.py
"""

import base64
import io
import json
import pathlib
import subprocess
import sys
import tempfile
from importlib.metadata import version

import fastavro
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import json_format

HERE = pathlib.Path(__file__).parent
CONTRACTS = HERE.parents[2] / "src" / "contracts"
RELEASED = HERE.parent / "released"
TOPICS = {
    "order-request": "orders.acme.request.v1",
    "order-response": "orders.acme.response.v1",
    "order-cancellation": "orders.acme.request.v1",
    "order-cancellation-response": "orders.acme.response.v1",
    "despatch-advice": "shipments.acme.request.v1",
    "despatch-receipt": "shipments.acme.response.v1",
    "notification-request": "notifications.request.v1",
}
AT = "2026-02-03T04:05:06.789Z"
VALUES = {
    "order-request": [
        {
            "orderNumber": "4500017",
            "issuedAt": AT,
            "currency": "EUR",
            "lines": [
                {"lineNumber": n, "item": f"A-{n}", "quantity": "123456789012345678.123456", "unit": "C62", "unitPrice": "0"}
                for n in [1, 63, 64, 2147483647]
            ],
        },
        {
            "orderNumber": "n" * 64,
            "issuedAt": AT,
            "currency": "XXX",
            "lines": [{"lineNumber": n + 1, "item": "Ä€😀" * 5, "quantity": "1", "unit": "KGM", "unitPrice": "9.99"} for n in range(70)],
        },
    ]
    + [
        {
            "orderNumber": "4500017",
            "issuedAt": AT,
            "currency": "EUR",
            "lines": [{"lineNumber": 1, "item": "A-1", "quantity": "1", "unit": "C62", "unitPrice": "0"}],
            "contact": contact,
        }
        for contact in [{"name": "Kim Doe"}, {"name": "Ünal Çelik", "phone": "+49 30 1"}, {"name": "K" * 100, "email": "k@parley.example", "phone": "1"}]
    ],
    "order-response": [
        {"orderNumber": "4500017", "responseCode": "AP", "issuedAt": AT},
        {"orderNumber": "4500017", "responseCode": "ZZ9", "issuedAt": AT, "reason": ""},
        {
            "orderNumber": "4500018",
            "responseCode": "CA",
            "issuedAt": AT,
            "reason": "nur noch zehn übrig, 在庫切れ 😀\u0000",
            "lines": [{"lineNumber": 1, "quantity": "0", "unitPrice": "0.000001"}],
        },
    ],
    "order-cancellation": [{"orderNumber": "1", "issuedAt": AT, "reason": "x"}, {"orderNumber": "1", "issuedAt": AT, "reason": "x" * 2000}],
    "order-cancellation-response": [{"orderNumber": "4500017", "responseCode": "RE", "issuedAt": AT, "reason": "too late"}],
    "despatch-advice": [
        {
            "orderNumber": "4500017",
            "despatchNumber": "D-900",
            "issuedAt": AT,
            "grossWeightGrams": weight,
            "lines": [{"lineNumber": 1, "quantity": "12.5"}],
        }
        for weight in ["0", "63", "64", "2147483648", "9007199254740993", "999999999999999999"]
    ]
    + [
        {
            "orderNumber": "4500017",
            "despatchNumber": "D-900",
            "issuedAt": AT,
            "carrier": "Parcel Ltd",
            "trackingNumber": "PX-1",
            "lines": [{"lineNumber": 1, "quantity": "12.5"}],
        }
    ]
    + [
        {
            "orderNumber": "4500017",
            "despatchNumber": "D-900",
            "issuedAt": AT,
            "lines": [{"lineNumber": 1, "quantity": "12.5"}],
            "driver": driver,
        }
        for driver in [{"name": "Sam Roe"}, {"name": "Sam Roe", "phone": "+49 151 1"}]
    ],
    "despatch-receipt": [
        {
            "orderNumber": "4500017",
            "despatchNumber": "D-900",
            "receiptCode": "RE",
            "issuedAt": AT,
            "reasonCode": "over-delivery",
            "reason": "Line 1.",
        }
    ],
    "notification-request": [
        {
            "notificationId": "login/7f3c2a10",
            "kind": "confirmation-code",
            "issuedAt": AT,
            "channel": "sms",
            "address": "+491515550100",
            "data": [{"name": "code", "value": "493 817"}],
            "expiresAt": "2026-02-03T04:10:06Z",
        },
        {
            "notificationId": "~" * 128,
            "kind": "message",
            "issuedAt": AT,
            "receiver": "purchasing",
            "data": [{"name": "title", "value": "Ünal Çelik 😀"}, {"name": "text", "value": "x" * 10_000}],
            "orderNumber": "4500017",
            "partner": "acme",
        },
    ],
}


def pascal(name):
    return "".join(part.capitalize() for part in name.split("-"))


def text_of(contract, extension):
    return (CONTRACTS / f"{contract}.v1.{extension}").read_text()


def earlier_texts(contract, extension):
    """What was released before the text of now, by its number."""
    folder = RELEASED / f"{contract}.v1"
    numbers = sorted(int(file.name.split(".")[0]) for file in folder.glob(f"*.{extension}"))
    texts = {n: (folder / f"{n}.{extension}").read_text() for n in numbers}
    return {n: text for n, text in texts.items() if text != text_of(contract, extension)}


def earlier_values(contract, n):
    """The documents that could be written under that release."""
    known = json.loads((RELEASED / f"{contract}.v1" / f"{n}.schema.json").read_text())["properties"]
    return [value for value in VALUES[contract] if set(value) <= set(known)]


def avro_value(contract, value):
    """What fastavro wants: the long as a number."""
    if contract == "despatch-advice" and "grossWeightGrams" in value:
        return {**value, "grossWeightGrams": int(value["grossWeightGrams"])}
    return value


# One registry for each format, so that a subject has schemas of one; ids of one to four bytes.
FIRST_ID = {"avro": 0x7FFFFF00, "protobuf": 300, "json-schema": 70_000}
REGISTRIES = {}
for name, first in FIRST_ID.items():
    REGISTRIES[name] = SchemaRegistryClient.new_client({"url": "mock://"})
    REGISTRIES[name]._store.max_id = first
vectors = []


def descriptor_of(message):
    return base64.b64encode(message.DESCRIPTOR.file.serialized_pb).decode("ascii")


def record_strategy(record_name):
    return lambda ctx, *_: f"{ctx.topic}-{record_name}"


def add(contract, fmt, schema_text, value, serialize, expect, note, same=False):
    schema_type = {"avro": "AVRO", "protobuf": "PROTOBUF", "json-schema": "JSON"}[fmt]
    topic = TOPICS[contract]
    subject = f"{topic}-parley.v1.{pascal(contract)}"
    registry = REGISTRIES[fmt]
    # The Python client knows a .proto only as a descriptor; what a registry shows of it is the text.
    registered = descriptor_of(value) if fmt == "protobuf" else schema_text
    registry.register_schema(subject, Schema(registered, schema_type, []))
    latest = registry.get_latest_version(subject)
    for form in ["payload", "header"]:
        headers = {}
        conf = {"auto.register.schemas": False, "use.latest.version": fmt != "protobuf", "subject.name.strategy": record_strategy(f"parley.v1.{pascal(contract)}")}
        if form == "header":
            conf["schema.id.serializer"] = header_schema_id_serializer
        payload = serialize(registry, conf)(value, SerializationContext(topic, MessageField.VALUE, headers))
        vectors.append(
            {
                "note": f"{contract}, {fmt}, {note}, id in the {form}",
                "contract": contract,
                "format": fmt,
                "topic": topic,
                "subject": subject,
                "schema": {"id": latest.schema_id, "guid": latest.guid, "text": schema_text},
                "headers": {name: bytes(value).hex() for name, value in headers.items()},
                "payload": bytes(payload).hex(),
                **expect,
                # Written by us, the same document has these very bytes.
                "ours": same and form == "payload",
            }
        )


def compile_protos(folder, files):
    """Python classes of .proto texts, by file name."""
    modules = {}
    sys.path.insert(0, str(folder))
    for name, text in files.items():
        (folder / f"{name}.proto").write_text(text)
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"--python_out={folder}", f"{name}.proto"]
        subprocess.run(command, check=True, cwd=folder)
        modules[name] = __import__(f"{name}_pb2")
    return modules


# Later messages of a file, and messages in messages, each in a package of its own, or Python takes them for the same.
LATER = """syntax = "proto3";
package parley.v1;
// message Comment { }
message First { message Inner { string x = 1; } map<string, string> labels = 1; string text = 2; }
enum Kind { option deprecated = true; KIND_NONE = 0; }
message Second { oneof choice { string a = 1; int32 b = 2; } }
message OrderCancellation {
  string order_number = 1;
  string issued_at = 2;
  string reason = 3;
  message Third { string order_number = 1; message Fourth { string order_number = 1; } }
}
"""


def protobuf_vectors():
    folder = pathlib.Path(tempfile.mkdtemp())
    # One process knows one class of a name: our files as they are, then one more process for the other file.
    if "--later" not in sys.argv:
        modules = compile_protos(folder, {c.replace("-", "_"): text_of(c, "proto") for c in TOPICS})
        for contract, values in VALUES.items():
            kind = getattr(modules[contract.replace("-", "_")], pascal(contract))
            for n, value in enumerate(values):
                message = json_format.ParseDict(value, kind())
                make = lambda registry, conf, kind=kind: ProtobufSerializer(kind, registry, conf)
                add(contract, "protobuf", text_of(contract, "proto"), message, make, {"value": value}, f"document {n + 1}", True)
        return
    module = compile_protos(folder, {"later": LATER})["later"]
    make = lambda kind: lambda registry, conf: ProtobufSerializer(kind, registry, conf)
    value = {"orderNumber": "1", "issuedAt": AT, "reason": "late in its file"}
    kind = module.OrderCancellation
    add("order-cancellation", "protobuf", LATER, kind(order_number="1", issued_at=AT, reason=value["reason"]), make(kind), {"value": value}, "third message of its file")
    for name, kind in [
        ("parley.v1.First.Inner", module.First.Inner),
        ("parley.v1.Second", module.Second),
        ("parley.v1.OrderCancellation.Third", module.OrderCancellation.Third),
        ("parley.v1.OrderCancellation.Third.Fourth", module.OrderCancellation.Third.Fourth),
    ]:
        expect = {"error": {"code": "schema-mismatch", "mentions": name}}
        add("order-cancellation", "protobuf", LATER, kind(), make(kind), expect, f"another message ({name})")


def avro_and_json_vectors():
    compact = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for contract, values in VALUES.items():
        avsc, rules = text_of(contract, "avsc"), text_of(contract, "schema.json")
        for n, value in enumerate(values):
            make = lambda registry, conf: AvroSerializer(registry, avsc, conf=conf)
            add(contract, "avro", avsc, avro_value(contract, value), make, {"value": value}, f"document {n + 1}", True)
            spaced = n % 2 == 1
            encode = json.dumps if spaced else compact
            make = lambda registry, conf: JSONSerializer(rules, registry, conf=conf, json_encode=encode)
            note = f"document {n + 1}{', with spaces and escapes' if spaced else ''}"
            add(contract, "json-schema", rules, value, make, {"value": value}, note, not spaced)


def earlier_vectors(n):
    """Records of partners that still write a release from before: read as ever, and no bytes of ours any more."""
    folder = pathlib.Path(tempfile.mkdtemp())
    texts = {c: earlier_texts(c, "proto")[n] for c in TOPICS if n in earlier_texts(c, "proto")}
    modules = compile_protos(folder, {c.replace("-", "_"): text for c, text in texts.items()})
    for contract, proto in texts.items():
        kind = getattr(modules[contract.replace("-", "_")], pascal(contract))
        avsc, rules = earlier_texts(contract, "avsc")[n], earlier_texts(contract, "schema.json")[n]
        # One is enough of each: what differs is the schema, not the document.
        value, note = earlier_values(contract, n)[-1], f"release {n}"
        make = lambda registry, conf: AvroSerializer(registry, avsc, conf=conf)
        add(contract, "avro", avsc, avro_value(contract, value), make, {"value": value}, note)
        make = lambda registry, conf: JSONSerializer(rules, registry, conf=conf)
        add(contract, "json-schema", rules, value, make, {"value": value}, note)
        make = lambda registry, conf: ProtobufSerializer(kind, registry, conf)
        add(contract, "protobuf", proto, json_format.ParseDict(value, kind()), make, {"value": value}, note)


def record(name, fields, **more):
    return {"type": "record", "name": name, "namespace": "parley.v1", "fields": fields, **more}


STRING = {"type": "string"}
LINE = [{"name": "lineNumber", "type": "int"}, {"name": "quantity", "type": "string"}, {"name": "unitPrice", "type": "string"}]
EVERYTHING = [
    {"name": "someEnum", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}},
    {"name": "someMap", "type": {"type": "map", "values": {"type": "array", "items": "long"}}},
    {"name": "someFixed", "type": {"type": "fixed", "name": "Sum", "size": 3}},
    {"name": "someUnion", "type": ["null", "double", "Colour", {"type": "record", "name": "Tree", "fields": [{"name": "next", "type": ["null", "Tree"]}]}]},
    {"name": "someFloat", "type": "float"},
    {"name": "someFlag", "type": "boolean"},
    {"name": "someBytes", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    {"name": "someTime", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "constructor", "type": "string"},
]
EVERYTHING_VALUES = {
    "someEnum": "GREEN",
    "someMap": {"a": [1, -1, 2**62], "b": []},
    "someFixed": b"abc",
    "someUnion": {"next": {"next": None}},
    "someFloat": 1.5,
    "someFlag": True,
    "someBytes": b"\x01\x02",
    "someTime": 1770000000000,
    "constructor": "a name that JavaScript has on every object",
}


def resolution_vectors():
    """Records of writers whose schema is another than ours, and what fastavro reads of them with ours."""
    ours = {c: json.loads(text_of(c, "avsc")) for c in ["order-response", "despatch-advice"]}
    head = [{"name": n, "type": "string"} for n in ["orderNumber", "responseCode", "issuedAt"]]
    values = {"orderNumber": "4500017", "responseCode": "AP", "issuedAt": AT}
    lines = {"name": "lines", "type": {"type": "array", "items": record("OrderResponseLine", LINE)}}
    many = {"lines": [{"lineNumber": 1, "quantity": "0", "unitPrice": "1.5"}]}
    advice = {"orderNumber": "1", "despatchNumber": "D", "issuedAt": AT, "lines": [{"lineNumber": 7, "quantity": "1"}]}
    advice_lines = {
        "name": "lines",
        "type": {"type": "array", "items": record("DespatchAdviceLine", [{"name": "quantity", "type": "string"}, {"name": "lineNumber", "type": "int"}])},
    }
    advice_head = [{"name": n, "type": "string"} for n in ["orderNumber", "despatchNumber", "issuedAt"]]
    code = [{**f, "type": "bytes"} if f["name"] == "responseCode" else f for f in head]
    cases = [
        ("without the optional fields", "order-response", record("OrderResponse", head), values),
        ("in another order", "order-response", record("OrderResponse", head[::-1]), values),
        ("another namespace", "order-response", record("acme.wire.OrderResponse", head), values),
        ("required where ours is optional", "order-response", record("OrderResponse", head + [{"name": "reason", "type": "string"}, lines]), {**values, "responseCode": "CA", "reason": "r", **many}),
        ("a field of each type that we don't know, in between", "order-response", record("OrderResponse", head[:1] + EVERYTHING + head[1:]), {**values, **EVERYTHING_VALUES}),
        ("bytes for a text", "order-response", record("OrderResponse", code), {**values, "responseCode": b"AP"}),
        ("the union the other way round", "order-response", record("OrderResponse", head + [{"name": "reason", "type": ["string", "null"]}]), {**values, "reason": "r"}),
        ("a union of more than we read", "order-response", record("OrderResponse", head + [{"name": "reason", "type": ["int", "string", "null"]}]), {**values, "reason": "r"}),
        ("an int where ours is a long", "despatch-advice", record("DespatchAdvice", advice_head + [{"name": "grossWeightGrams", "type": "int"}, advice_lines]), {**advice, "grossWeightGrams": 12500}),
        ("a long with a logical type", "despatch-advice", record("DespatchAdvice", advice_head + [{"name": "grossWeightGrams", "type": {"type": "long", "logicalType": "parley-grams"}}, advice_lines]), {**advice, "grossWeightGrams": 2**53 + 1}),
    ]
    for note, contract, schema, value in cases:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
        reader = fastavro.parse_schema(json.loads(json.dumps(ours[contract])))
        read = fastavro.schemaless_reader(io.BytesIO(out.getvalue()), fastavro.parse_schema(json.loads(json.dumps(schema))), reader)
        if read.get("grossWeightGrams") is not None:
            read["grossWeightGrams"] = str(read["grossWeightGrams"])
        expect = {"value": {k: v for k, v in read.items() if v is not None}}
        make = lambda registry, conf: AvroSerializer(registry, json.dumps(schema), conf=conf)
        add(contract, "avro", json.dumps(schema), value, make, expect, f"writer: {note}")


if "--later" in sys.argv:
    protobuf_vectors()
    json.dump(vectors, sys.stdout)
    sys.exit(0)

if "--earlier" in sys.argv:
    earlier_vectors(int(sys.argv[-1]))
    json.dump(vectors, sys.stdout)
    sys.exit(0)

avro_and_json_vectors()
protobuf_vectors()
resolution_vectors()
releases = sorted({n for contract in TOPICS for n in earlier_texts(contract, "proto")})
for arguments in [["--later"], *(["--earlier", str(n)] for n in releases)]:
    other = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    vectors += json.loads(other.stdout)
made_with = {name: version(name) for name in ["confluent-kafka", "fastavro", "protobuf", "grpcio-tools"]}
made_with["python"] = sys.version.split()[0]
# Texts that many vectors share stand once.
texts = {}
for vector in vectors:
    text = vector["schema"].pop("text")
    vector["schema"]["text"] = texts.setdefault(text, len(texts))
lines = [{"madeWith": made_with, "schemas": list(texts)}, *vectors]
(HERE / "vectors.ndjson").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
print(f"{len(vectors)} vectors")
