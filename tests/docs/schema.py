"""schema.py SCHEMA SCRIPT...: are these scripts, documents (.json) and JSON Lines (.jsonl), what the
JSON Schema says? And is each of them refused when something is wrong with its last event?"""
import copy
import json
import sys

from jsonschema import Draft202012Validator


def validators(schema):
    """For a whole document, for the first line, and for the other lines of each version."""
    def part(name):
        return Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": schema["$defs"]})
    lines = {name: part(name) for name in schema["$defs"] if name.startswith("go1.")}
    return Draft202012Validator(schema), part("header"), lines


def wrong(event):
    """The event with one thing wrong with it, in several ways."""
    for name in event:
        without = copy.copy(event)
        del without[name]
        if name not in ("frames", "pad", "form"):
            yield without
        yield event | {name: -1}
        yield event | {name: 1.5}
        yield event | {name: None}
    yield event | {"other": 1}


def kinds(events):
    """One event of each kind: checking all of them takes long."""
    return list({(event["event"], *sorted(event)): event for event in events}.values())


def check(path, schema, whole, header, lines):
    with open(path, encoding="utf-8") as script:
        if path.endswith(".json"):
            document = json.load(script)
            version, events = document["trace"], kinds(document["records"])
            document |= {"records": events}
            whole.validate(document)
            header.validate({"trace": version})
            assert not whole.is_valid(document | {"other": 1})
            assert not whole.is_valid(document | {"records": events[:1] + [{"event": "None"}]})
        else:
            first, *events = [json.loads(line) for line in script]
            header.validate(first)
            version, events = first["trace"], kinds(events)
    line = lines[version.replace(" ", "")]
    for event in events:
        line.validate(event)
    for event in wrong(events[-1]):
        assert not line.is_valid(event), f"{path}: {event} is taken"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    parts = validators(schema)
    for path in sys.argv[2:]:
        try:
            check(path, schema, *parts)
        except Exception as error:
            sys.exit(f"{path}: {error}")


main()
