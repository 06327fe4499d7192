"""Classes, scales and ranges of readings, by a catalogue that its release's head proves: FORMAT.md, sections 8 and 11."""

import decimal
import hashlib
import json
import os
import re

from verify_json import HASH, Refused, canonical_bytes, is_number, is_same, objects, parse, told
from verify_signature import from_base64url, is_signature, public_key

CATALOG_NAME = "catalog.json"
CATALOG_FORMAT = "signalpress-catalog/1"
FILE_BYTES_MAX = 67108864
LIST_BYTES_MAX = 2 ** 30
ENDLESS = float("inf")
# The unit that people read behind a metric of an entity's own thresholds; a longer suffix stands before its own end.
UNITS = (("degree_days", "degree days"), ("usd_therm", "USD per therm"), ("usd_tco2e", "USD per t CO\u2082e"),
         ("usd_gal", "USD per gallon"), ("usd_kwh", "USD per kWh"), ("celsius", "\u00b0C"), ("notches", "notches"),
         ("index", ""), ("count", ""), ("ratio", "times"), ("ugm3", "\u00b5g/m\u00b3"), ("feet", "ft"), ("days", "days"),
         ("usd", "USD"), ("hpa", "hPa"), ("kpa", "kPa"), ("cfs", "ft\u00b3/s"), ("cms", "m\u00b3/s"), ("aqi", "AQI"),
         ("mag", "magnitude"), ("mmi", "MMI"), ("min", "min"), ("pct", "%"), ("kt", "kt"), ("mph", "mph"),
         ("kmh", "km/h"), ("mm", "mm"), ("cm", "cm"), ("in", "in"), ("km", "km"), ("mw", "MW"), ("mi", "mi"),
         ("ft", "ft"), ("c", "\u00b0C"), ("f", "\u00b0F"), ("k", "K"), ("m", "m"))


class Unusable(Exception):
    """A catalogue that nothing proves, or of another issuer: nothing can be judged by it."""


# ---- a catalogue, proven by the head of its release ---------------------------------------------------------------


class Given:
    """Signals by id, who signed them, and which statements the release lists, where it is at hand."""

    def __init__(self, signals, issuer, release):
        self.signals, self.issuer, self._release = signals, issuer, release

    def lists(self, statement):
        """Whether the release lists a statement, by its hash: then its body is one of that release."""
        if self._release is None or not self._release.is_signed or not HASH.fullmatch(statement):
            return False
        shard = self._release.read("verify/%s.txt" % statement[len("sha256:"):][:2])
        rows = [] if shard is None else [json.loads(line) for line in shard.decode("utf-8").splitlines()]
        return any(row[0] == statement and row[1] == "citation" for row in rows)


class Release:
    """The listed files of a release folder; whoever stored it could list anything, but for the head that signs the list."""

    def __init__(self, root, head):
        self._files = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(root))), "files")
        text = read_file(os.path.join(root, "files.txt"), LIST_BYTES_MAX)
        self.is_signed = "sha256:" + hashlib.sha256(text).hexdigest() == head.get("files_sha256")
        rows = [line.split(" ", 2) for line in text.decode("utf-8").splitlines()]
        self._digests = dict((path, digest) for digest, _, path in rows)

    def read(self, path):
        """The bytes of a listed file; None for one that is not listed."""
        digest = self._digests.get(path)
        if digest is None:
            return None
        data = read_file(os.path.join(self._files, stored_name(path, digest)), FILE_BYTES_MAX)
        if hashlib.sha256(data).hexdigest() != digest:
            raise Unusable("%s: not the file that the release lists" % path)
        return data


def stored_name(path, digest):
    """Where a file stands below files: the first digits of its hash before the extension."""
    found = re.search(r"\.[A-Za-z][A-Za-z0-9]{0,9}$", path.rsplit("/", 1)[-1])
    end = len(path) - (len(found.group(0)) if found else 0)
    return "%s.%s%s" % (path[:end], digest[:20], path[end:])


def read_file(path, most):
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Unusable("%s: longer than %d bytes" % (path, most))
    return data


def given_catalog(path, issuers):
    """The catalogue of a file with the release.json beside it, or of a release or data folder."""
    try:
        return proven_catalog(path, issuers)
    except (Refused, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable("%s: %s" % (path, error)) from error


def proven_catalog(path, issuers):
    folder = os.path.join(path, "current") if os.path.isdir(os.path.join(path, "current")) else path
    is_folder = os.path.isdir(folder)
    beside = os.path.join(folder if is_folder else os.path.dirname(path), "release.json")
    head = signed_head(read_file(beside, FILE_BYTES_MAX), issuers)
    release = Release(folder, head) if is_folder else None
    data = release.read(CATALOG_NAME) if is_folder else read_file(path, FILE_BYTES_MAX)
    if data is None:
        raise Unusable("%s: the release holds no %s" % (path, CATALOG_NAME))
    if "sha256:" + hashlib.sha256(data).hexdigest() != head.get("catalog_sha256"):
        raise Unusable("%s: the head of release %s signs another catalogue" % (path, head.get("sequence")))
    catalog = parse(data)
    if catalog.get("format") != CATALOG_FORMAT:
        raise Unusable("%s: not %s" % (path, CATALOG_FORMAT))
    return Given(signals_of(catalog), head["issuer_did"], release)


def signed_head(data, issuers):
    """The head of a release, in its one spelling and signed by its issuer."""
    head = parse(data)
    if data.decode("utf-8") != json.dumps(head, ensure_ascii=False, indent=2) + "\n":
        raise Refused("release.json is not spelled as compile writes it")
    did = head["issuer_did"]
    signed = {name: value for name, value in head.items() if name != "signature"}
    if not is_signature(public_key(did), canonical_bytes(signed), from_base64url(head["signature"])):
        raise Refused("release.json: not a signature of %s" % did)
    if head["key_id"] != "%s#%s" % (did, did.split(":")[-1]):
        raise Refused("release.json: key_id is not the key of the issuer")
    if issuers and did not in issuers:
        raise Unusable("release.json: signed by %s, which is not trusted" % did)
    return head


def signals_of(catalog):
    """The signals of a catalogue by id, each with its scales; those of a life-cycle line are its legs and two of its own."""
    signals, rulers = {}, catalog.get("rulers", {})
    for line in catalog.get("lines", []):
        for signal in line.get("signals", []):
            signals[signal["id"]] = signal_of(signal, rulers)
        if "lifecycle" in line:
            own = {"lifecycle": {"metrics": ["state", "age_days"]},
                   "industry-timeline": {"metrics": ["ends_365d_count", "births_365d_count"]}}
            own.update((leg["name"], leg) for leg in line["lifecycle"]["legs"])
            signals.update(("%s.%s" % (line["id"], name), dict(leg, scales=[])) for name, leg in own.items())
    return signals


def signal_of(signal, rulers):
    """Its scales are those that it names, each with the one beside it; they give the classes where it has none of its own."""
    scales = [rulers[name] for name in signal.get("rulers", [])]
    made = dict(signal, scales=[])
    for scale in scales:
        made["scales"] += [scale] + ([rulers[scale["beside"]]] if "beside" in scale else [])
    if scales and "bands" not in signal:
        made["bands"] = [step["band"] for step in scales[0]["steps"]]
    return made


# ---- readings by a catalogue --------------------------------------------------------------------------------------


def check_catalog(body, given):
    """Refuses a body of the given release that differs; says what was not judged, or None."""
    signer = next((node["_citation"].get("issuer_DID") for _, node in objects(body)
                   if isinstance(node.get("_citation"), dict)), None)
    if signer != given.issuer:
        raise Unusable("the catalogue is of %s, and the body is signed by %s" % (given.issuer, signer or "nobody"))
    faults = [fault for path, node in objects(body) for fault in faults_of(path, node, given.signals)]
    if not faults:
        return unknown_signals(body, given.signals)
    signed = body["sample"] if isinstance(body.get("sample"), dict) and set(body) == {"sample"} else body
    citation = signed.get("_citation")
    if isinstance(citation, dict) and given.lists(str(citation.get("record_hash"))):
        raise Refused(faults[0])
    return "%s: made under another catalogue; classes, scales and ranges were not judged" % faults[0]


def unknown_signals(body, signals):
    unknown = [node["signal_id"] for _, node in objects(body) if is_reading(node) and node["signal_id"] not in signals]
    return "%s is not in the catalogue: not judged by it" % unknown[0] if unknown else None


def is_reading(node):
    """A reading in the form of this service."""
    is_own = "standard_ruler" in node or "lit" in node
    return is_own and isinstance(node.get("signal_id"), str) and isinstance(node.get("current"), dict)


def faults_of(path, node, signals):
    """What of a reading does not follow from the catalogue, in words."""
    name = node.get("signal_id")
    signal = signals.get(name) if isinstance(name, str) else None
    if signal is None:
        return
    if "lit" in node and ("position" in node or "provenance" in node):
        right = lit_of(signal, band_of(node))
        if node["lit"] is not right:
            yield "%s: not %s, which follows from its class" % (told(path, "lit"), right)
    if not is_reading(node):
        return
    current, metric = node["current"], signal["metrics"][0]
    value, limits = current.get(metric), signal.get("range")
    if limits is not None and is_number(value) and not limits["from"] <= value <= limits.get("to", ENDLESS):
        yield "%s: outside the range of the signal" % told(path, "current", metric)
    for names, band in ((("current", "band"), current.get("band")), (("band",), node.get("band"))):
        if isinstance(band, str) and "bands" in signal and band not in classes_of(signal):
            yield "%s: no class of the signal" % told(path, *names)
    shown = node.get("standard_ruler")
    if isinstance(shown, dict):
        fault = ruler_fault(shown, current, signal)
        if fault is not None:
            yield "%s: does not follow from the value and the official scale" % told(path, "standard_ruler", fault)


def band_of(node):
    if "band" in node:
        return node["band"]
    shown = node.get("standard_ruler")
    if shown is not None:
        return shown.get("band") if isinstance(shown, dict) else None
    return node["current"].get("band") if isinstance(node.get("current"), dict) else None


def lit_of(signal, band):
    """Whether a class is not the mildest; None without classes, or for none of them."""
    own = signal.get("ownThresholds", [])
    if not isinstance(band, str):
        return None
    if band in own or band in ["below-" + name for name in own]:
        return band in own
    bands = signal.get("bands", [])
    return bands.index(band) > 0 if band in bands else None


def classes_of(signal):
    """Whatever is below the lowest of an entity's own thresholds has a name of its own."""
    own = signal.get("ownThresholds", [])
    return list(signal["bands"]) + own + ["below-" + name for name in own]


# ---- a value on a scale -------------------------------------------------------------------------------------------


def ruler_fault(shown, current, signal):
    """The first member that does not follow on any scale of this name; None where all do, or no scale has the name."""
    faults = [scale_fault(shown, current, scale) for scale in scales_named(shown, signal)]
    return None if None in faults or not faults else faults[0]


def scale_fault(shown, current, scale):
    position = position_on(scale, current)
    if position is None:
        return "band"
    right = standing_on(scale, position)
    names = list(right) + [name for name in shown if name not in right]
    return next((name for name in names if name not in right or name not in shown
                 or not is_same(shown[name], right[name])), None)


def scales_named(shown, signal):
    """The scales that a record means by the text it shows; thresholds of its own stand in the record."""
    named = shown.get("provenance")
    if "ownThresholds" not in signal:
        return [scale for scale in signal["scales"] if "%s; %s" % (scale["scale"], scale["provenance"]) == named]
    thresholds = shown.get("thresholds")
    steps = [{"band": step["band"], "at": step["at"]} for step in (thresholds if isinstance(thresholds, list) else [])
             if isinstance(step, dict) and isinstance(step.get("band"), str) and is_number(step.get("at"))]
    if not steps:
        return []
    scale, _, provenance = (named if isinstance(named, str) else "").partition("; ")
    mildest = {"band": "below-" + steps[0]["band"], "at": -ENDLESS}
    metric = signal["metrics"][0]
    unit = next((label for end, label in UNITS if metric.endswith("_" + end)), "")
    return [{"metric": metric, "unit": unit, "direction": "up", "edge": "worse", "actionBand": steps[0]["band"],
             "steps": [mildest] + steps, "scale": scale, "provenance": provenance}]


def position_on(scale, current):
    """The number of a reading, or that of the class it names."""
    value = current.get(scale["metric"])
    if is_number(value):
        return value
    return next((step["at"] for step in scale["steps"] if step["band"] == value), None) if scale["metric"] == "band" else None


def standing_on(scale, value):
    """All that a record says of a value on a scale."""
    steps, sign = scale["steps"], 1 if scale["direction"] == "up" else -1
    index = max([0] + [at for at, step in enumerate(steps) if at > 0 and is_reached(scale, step, value)])
    band = steps[index]["band"]
    action = next((step["at"] for step in steps if step["band"] == scale["actionBand"]), None)
    return {"band": band, "official_category": re.sub("[-_]", " ", band),
            "thresholds": [{"band": step["band"], "at": step["at"]} for step in steps if abs(step["at"]) != ENDLESS],
            "distance_to_action": None if action is None else minus(sign, action, value),
            "pct_to_action": None if action is None else percent(scale, action, value),
            "normalized_index": index_on([sign * step["at"] for step in steps], index, sign * value),
            "unit": scale["unit"], "provenance": "%s; %s" % (scale["scale"], scale["provenance"])}


def is_reached(scale, step, value):
    sign = 1 if scale["direction"] == "up" else -1
    edge = step.get("edge", scale["edge"])
    return sign * value >= sign * step["at"] if edge == "worse" else sign * value > sign * step["at"]


def exact(value):
    return decimal.Decimal(repr(value))


def minus(sign, action, value):
    with decimal.localcontext() as context:
        context.prec = 800
        return float(sign * (exact(action) - exact(value))) + 0.0


def percent(scale, action, value):
    """Share of the action threshold; none for numbers of classes."""
    part, whole = (value, action) if scale["direction"] == "up" else (action, value)
    return None if scale["metric"] == "band" or whole <= 0 else tenth(part / whole * 100)


def index_on(edges, index, value):
    """0 to 100 over the classes, each an equal share, linear inside; the last one is as wide as the one before it."""
    low = edges[index] if abs(edges[index]) != ENDLESS else min(0, value)
    is_last = index == len(edges) - 1
    width = edges[index] - edges[index - 1] if is_last else edges[index + 1] - low
    inside = min(1, max(0, (value - low) / width)) if width > 0 else 0
    return tenth((index + inside) / len(edges) * 100)


def tenth(value):
    """One decimal, halves away from zero, on the decimal text of the number."""
    with decimal.localcontext() as context:
        context.prec = 800
        return float(exact(value).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP)) + 0.0
