"""schema.py SCHEMA SCRIPT...: do these scripts, documents (.json) and JSON Lines (.jsonl), match the
JSON Schema? And is each of them rejected after a change of its last event?"""
import copy
import json
import sys

from jsonschema import Draft202012Validator


def validators(schema):
    """Schemas for a whole document, for the first line, and for the other lines of each version."""
    def part(name):
        return Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": schema["$defs"]})
    lines = {name: part(name) for name in schema["$defs"] if name.startswith(("go1.", "meaning1."))}
    return Draft202012Validator(schema), part("header"), lines


OPTIONAL = ("frames", "pad", "form")
SIGNED = ("t", "p", "m", "on_p", "on_m", "clock_t", "thread")


def wrong(event, meaning):
    """The event with one fault, in several ways."""
    for name in event:
        without = copy.copy(event)
        del without[name]
        if name in ("event", "t", "ticks") or (name not in OPTIONAL and not meaning):
            yield without
        if not meaning or name not in SIGNED:
            yield event | {name: -1}
            yield event | {name: 1.5}
        yield event | {name: None}
    yield event | {"other": 1}
    if meaning:
        yield event | {"t": 1, "ticks": 1}
        yield event | {"raw": True}


def kinds(events):
    """One event of each kind: checking all of them takes too long."""
    return list({(event["event"], *sorted(event)): event for event in events}.values())


def check_header(header, first):
    header.validate(first)
    assert not header.is_valid(first | {"other": 1})
    assert header.is_valid(first | {"procs": 1}) == ("level" in first)


def check(path, schema, whole, header, lines):
    with open(path, encoding="utf-8") as script:
        if path.endswith(".json"):
            document = json.load(script)
            name, other = "records", "events"
            if "level" in document:
                name, other = other, name
            version, events = document["trace"], kinds(document[name])
            document |= {name: events}
            whole.validate(document)
            check_header(header, {key: document[key] for key in document if key != name})
            meaning = name == "events"
            assert not whole.is_valid(document | {"other": 1})
            assert not whole.is_valid(document | {other: []})
            assert not whole.is_valid(document | {name: events[:1] + [{"event": "None"}]})
        else:
            first, *events = [json.loads(line) for line in script]
            check_header(header, first)
            version, events, meaning = first["trace"], kinds(events), "level" in first
    line = lines[version.replace("go ", "meaning" if meaning else "go")]
    for event in events:
        line.validate(event)
    for event in wrong(events[-1], meaning):
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
