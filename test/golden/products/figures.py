#!/usr/bin/env python3
"""The figures of one body of each product, from the snapshot lines beside this file; no code of the product is read.

Written from SPEC.md and from FORMAT.md and AUDIT.md of compiler/contract: section numbers (F4, A4, A7) name these. Scales,
names, units' owners and legs are data of compiler/contract/catalog/builtin. Prints one JSON object a golden body:
{name: {product, target, figures}}. products.test.ts compares it with expected/*.json, and these with the compiled bodies.

Some by hand: the stage of 8.2 ft stands in "action" (7 to 9), class 1 of 5, and (8.2-7)/(9-7) = 0.6 inside it, so the index is
(1+0.6)/5 = 32 and the share of the threshold 8.2/7 = 117.1 %. Of the 11 readings of its season 7 are below 8.2 and one is 8.2:
(7+0.5)/11 = 0.682. From 07:00 on 18 November to 15:20 on the 20th are 56.3 hours.
"""
import json
import os
import sys
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
BUILTIN = os.path.join(HERE, "../../../compiler/contract/catalog/builtin")
BASE, ASKED, AS_OF = "https://readings.example", "2026-11-20T15:20:00Z", "2026-11-20T12:00:00Z"
UNITS = {"stage_ft": "ft", "discharge_cfs": "ft³/s", "aqi_index": "", "pm25_ugm3": "µg/m³", "precip_mm": "mm",
         "soil_moisture_percentile_pct": "%"}
# F4: cadence: fresh, recent, dead, due (hours)
BOUNDS = {"hourly": (3, 24, 168, 3), "daily": (24, 192, 1440, 48), "weekly": (192, 744, 4380, 216),
          "as-events": (744, 8760, 17520, None)}
STALE = "stale beside the other legs: official reading of %s"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)

def rounded(number, places):
    return Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)

def at(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))

def hours(since, until):
    """F4.1: hours between two times, never below 0, one decimal, halves up."""
    seconds = max(0, int((at(until) - at(since)).total_seconds()))
    return rounded(Decimal(seconds) / 3600, 1)

def rows(name):
    """The lines of all batches, oldest batch first, each with what its header says."""
    found, shop = [], os.path.join(HERE, "shop")
    for batch in sorted(os.listdir(shop)):
        path = os.path.join(shop, batch, name + ".ndjson")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line, parse_float=Decimal) for line in file]
        header = lines.pop(0)["header"]
        found += [dict(header, **line) for line in lines]
    return found

# The catalogue: signals with their line, in its order, and who has which name and place.
SIGNALS, PLACES, LINES, RULERS = {}, {}, {}, load(os.path.join(BUILTIN, "rulers.json"))["rulers"]
for name in ("environment", "agriculture", "life-cycles"):
    for line in load(os.path.join(BUILTIN, name + ".json"))["lines"]:
        LINES[line["id"]] = line
        if "lifecycle" in line:
            about = {"id": line["id"] + ".lifecycle", "cadence": "as-events", "metrics": ["state"]}
            SIGNALS[about["id"]] = dict(about, line=line)
        for signal in line.get("signals", []):
            SIGNALS[signal["id"]] = dict(signal, line=line)
        for place in line.get("entities", []) + line.get("places", []):
            if isinstance(place, dict):
                PLACES[place["id"]] = place

def timeline(signal, entity):
    """Readings by observation: a repeat keeps its first collection, other values of a later batch replace it."""
    known, looked = {}, ""
    for row in rows(signal):
        if row["entity"] == entity:
            looked = max(looked, row["collected_at"])
            before = known.get(row["observed_at"])
            if before is None or before["current"] != row["current"]:
                known[row["observed_at"]] = row
    return sorted(known.values(), key=lambda row: row["observed_at"]), looked

def entities(signal):
    return sorted({row["entity"] for row in rows(signal)})

def measurers(reading):
    """A4: the distinct relay_of, else name, of the sources."""
    return ", ".join(dict.fromkeys(source.get("relay_of", source["name"]) for source in reading["sources"]))

# --- figures of one reading ---

def scale(signal, reading):
    """Steps of the scale that holds on the day: [(band, start)], the class of action, and +1 where more is worse."""
    about = SIGNALS[signal]
    if "ownThresholds" in about:
        given = reading.get("thresholds") or {}
        steps = [(band, Decimal(given[band])) for band in about["ownThresholds"] if band in given]
        if not steps:
            return None
        return dict(steps=[("below-" + steps[0][0], None)] + steps, action=steps[0][0], sign=1, edge="worse")
    held = [RULERS[name] for name in about.get("rulers", []) if RULERS[name].get("since", "") <= reading["observed_at"][:10]]
    if not held:
        return None
    steps = [(step["band"], Decimal(step["at"])) for step in held[-1]["steps"]]
    return dict(steps=steps, action=held[-1]["actionBand"], sign=1 if held[-1]["direction"] == "up" else -1,
                edge=held[-1]["edge"], unit=held[-1]["unit"], provenance="%(scale)s; %(provenance)s" % held[-1])

def number_of_class(ruler, value):
    """The worst class that the value reaches; the first one begins nowhere."""
    sign, reached = ruler["sign"], 0
    for place, (_, start) in enumerate(ruler["steps"]):
        over = place > 0 and sign * (value - start)
        if place > 0 and (over > 0 or over == 0 and ruler["edge"] == "worse"):
            reached = place
    return reached

def main_value(signal, reading):
    value = reading["current"].get(SIGNALS[signal]["metrics"][0])
    return None if value is None or isinstance(value, str) else Decimal(value)

def standing(signal, reading):
    """A4, figures: the standard_ruler of a reading."""
    ruler, value = scale(signal, reading), main_value(signal, reading)
    if ruler is None or value is None:
        return None
    steps, sign, index = ruler["steps"], ruler["sign"], number_of_class(ruler, value)
    starts = [sign * start if start is not None else None for _, start in steps]
    low = starts[index] if starts[index] is not None else min(Decimal(0), sign * value)
    width = starts[index] - starts[index - 1] if index == len(steps) - 1 else starts[index + 1] - low
    inside = min(Decimal(1), max(Decimal(0), (sign * value - low) / width))
    action = dict(steps)[ruler["action"]]
    share = value / action if sign == 1 else action / value
    agency = reading.get("thresholds_agency")
    return {
        "band": steps[index][0],
        "official_category": steps[index][0].replace("-", " "),
        "thresholds": [{"band": band, "at": start} for band, start in steps if start is not None],
        "distance_to_action": sign * (action - value),
        "pct_to_action": rounded(100 * share, 1),
        "normalized_index": rounded(100 * (index + inside) / len(steps), 1),
        "unit": ruler.get("unit", UNITS.get(SIGNALS[signal]["metrics"][0])),
        "provenance": ruler.get("provenance", "thresholds of %s; %s, as stored with the reading" % (place_of(reading)[0], agency)),
    }

def band(signal, reading):
    placed = standing(signal, reading)
    return placed["band"] if placed else reading["current"].get("band")

def lit(signal, reading):
    """A4: false in the mildest class, true in any other, null without classes or reading."""
    placed = band(signal, reading)
    return None if placed is None else placed != scale(signal, reading)["steps"][0][0]

def season(signal, readings):
    """Numbers within 15 days of the calendar day in the 5 years before; null with fewer than 10 or without seasons."""
    latest = readings[-1]
    if not SIGNALS[signal].get("seasonal") or main_value(signal, latest) is None:
        return None
    day = at(latest["observed_at"]).replace(hour=0, minute=0)
    found = [(back, reading) for back in range(1, 6) for reading in readings
             if day.replace(year=day.year - back) - 15 * DAY <= at(reading["observed_at"])
             < day.replace(year=day.year - back) + 16 * DAY and main_value(signal, reading) is not None]
    return found if len(found) >= 10 else None

def percentile(value, found, signal):
    others = [main_value(signal, reading) for _, reading in found]
    below = sum(other < value for other in others) + Decimal(sum(other == value for other in others)) / 2
    share = rounded(below / len(others), 3)
    words = [(share < Decimal("0.1"), "much below normal"), (share < Decimal("0.25"), "below normal"),
             (share <= Decimal("0.75"), "normal"), (share <= Decimal("0.9"), "above normal"), (True, "much above normal")]
    return share, next(word for holds, word in words if holds)

def statistics(signal, readings):
    """stat_ruler, strata and the percentile table of the latest reading."""
    found = season(signal, readings)
    if found is None:
        return None, None, None
    value, ruler = main_value(signal, readings[-1]), scale(signal, readings[-1])
    share, words = percentile(value, found, signal)
    years, count = len({back for back, _ in found}), len(found)
    values = sorted(main_value(signal, reading) for _, reading in found)
    table = [{"percentile": step, "value": values[max(1, -(-step * count // 100)) - 1]} for step in (5, 10, 25, 50, 75, 90, 95)]
    classes = [number_of_class(ruler, main_value(signal, reading)) for _, reading in found]
    shares = [{"band": name, "share": rounded(Decimal(classes.count(place)) / count, 3), "n": classes.count(place)}
              for place, (name, _) in enumerate(ruler["steps"])]
    strata = {"window_years": years, "n": count, "shares": shares, "current_band": band(signal, readings[-1])}
    return {"current_percentile": share, "frequency_label": words, "window_years": years, "n": count}, strata, table

def change(signal, readings):
    metric = SIGNALS[signal]["metrics"][0]
    if len(readings) < 2:
        gone = {"delta": None, "direction": "unknown", "direction_reason": "no-previous-record"}
        return {"note": "no earlier reading is stored"}, {metric: gone, "period": None}
    before, now = readings[-2], readings[-1]
    delta = main_value(signal, now) - main_value(signal, before)
    word = "rising" if delta > 0 else "falling" if delta < 0 else "stable"
    period = "PT%dH" % hours(before["observed_at"], now["observed_at"])
    return {metric: main_value(signal, before)}, {metric: {"delta": delta, "direction": word}, "period": period}

def agreement(sources):
    """Standard deviation over mean of independent sources that measured at one time; null with fewer than two."""
    values = [Decimal(one["value"]) for one in sources if one["independent"] and "relay_of" not in one and "value" in one]
    if len(values) < 2 or len({one["as_of"] for one in sources}) > 1:
        return None
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return rounded(variance.sqrt() / mean, 4)

# --- words of time and provenance ---

def freshness(cadence, observed, now=ASKED):
    age, (fresh, recent, dead, _) = at(now) - at(observed), BOUNDS[cadence]
    return "fresh" if age <= fresh * HOUR else "recent" if age <= recent * HOUR else "stale", age > dead * HOUR

def basis(cadence):
    fresh, recent, dead, _ = BOUNDS[cadence]
    return ("cadence=%s; fresh<=%dh; recent<=%dh; dead_source>%dh; age_basis=request-time(now minus observed_at)"
            % (cadence, fresh, recent, dead))

def update_status(cadence, observed, looked):
    """F4.4"""
    due_hours = BOUNDS[cadence][3]
    counts_until = at(looked) + (due_hours or 744) * HOUR
    due = at(observed) + (due_hours or 0) * HOUR
    now, late = at(ASKED), due_hours is not None and at(looked) > at(observed) + due_hours * HOUR
    ends = counts_until if due_hours is None or late else due
    state, days = ("overdue" if late else "on_schedule") if now <= ends else "unknown", None
    if state == "overdue":
        days, text = (now - due) // DAY, "overdue for a source that publishes " + cadence
    elif state == "on_schedule":
        text = "published as events occur" if due_hours is None else "on schedule (%s)" % cadence
    elif due_hours is not None and not late:
        text = "unknown: nobody has looked since the next %s reading was due" % cadence
    else:
        text = "unknown: nobody has looked for more than %d hours (%s)" % (due_hours or 744, cadence)
    text += "; last official reading %s, last looked at %s" % (observed, looked)
    return {"state": state, "official_cadence": cadence, "overdue_days": days, "text": text}

def provenance(links, owed=(), parts=None, top=True):
    """A4: links are (signal, dimension, cadence, reading); parts of a joined body are (name, cadence, observed_at)."""
    by_age = sorted(links, key=lambda link: link[3]["observed_at"])
    oldest, newest = by_age[0], by_age[-1]
    observed, cadence = oldest[3]["observed_at"], oldest[2]
    word, dead = freshness(cadence, observed)
    made = {
        "data_as_of": newest[3]["observed_at"], "oldest_leg_as_of": observed,
        "data_age_hours": hours(observed, oldest[3]["collected_at"]), "age_hours_now": hours(observed, ASKED),
        "freshness_basis": basis(cadence),
        "at_request": sorted(["age_hours_now", "dead_source", "freshness"] + list(owed) + (["answered_at"] if top else [])),
        "data_lineage": [{"signal": signal, "independent_dimension": dimension, "traceable_to": measurers(reading),
                          "observed_at": reading["observed_at"], "source_ref": reading["source_ref"]}
                         for signal, dimension, _, reading in links],
    }
    if top:
        made["answered_at"] = ASKED
    if parts:
        order = {"stale": 1, "recent": 2, "fresh": 3}
        judged = [((0 if freshness(rate, seen)[1] else order[freshness(rate, seen)[0]]), seen, name) for name, rate, seen in parts]
        rank, observed, made["freshness_leg"] = min(judged)
        word, dead = {0: "stale", 1: "stale", 2: "recent", 3: "fresh"}[rank], rank == 0
    made["freshness"] = word
    if dead:
        made["dead_source"] = "no official reading since " + observed
    return made

def link_of(signal, reading):
    return (signal, SIGNALS[signal]["line"]["industry"], SIGNALS[signal]["cadence"], reading)

def cited(claim, fact, target, published, retrieved):
    return {"claim": claim, "fact": fact, "source": {"url": BASE + target, "published_at": published}, "retrieved_at": retrieved}

def place_of(reading):
    place = PLACES.get(reading["entity"], {})
    return reading.get("entity_name") or place.get("name") or reading["entity"], place.get("latitude"), place.get("longitude")

def read_words(signal, reading, plain=False):
    """What a reading read: its number and unit, or "no value"."""
    value = main_value(signal, reading)
    unit = UNITS[SIGNALS[signal]["metrics"][0]]
    return "read " + ("no value" if value is None else ("%s %s" % (text_of(value), unit)).strip())

def text_of(number):
    return format(Decimal(number).normalize(), "f")

# --- bodies of readings ---

def identity(signal, reading):
    return {"signal_id": signal, "entity": reading["entity"], "entity_name": place_of(reading)[0]}

def taken(reading):
    return {"snapshot_date": reading["collected_at"][:10] + "T00:00:00Z", "observed_at": reading["observed_at"],
            "data_age_hours": hours(reading["observed_at"], reading["collected_at"]), "current": reading["current"]}

def said(signal, reading, target):
    """The citation of a body of one reading."""
    observed, measures = reading["observed_at"], SIGNALS[signal]["measures"]
    fact = "%s of %s %s at %s" % (signal, reading["entity"], read_words(signal, reading), observed)
    return cited("%s at %s" % (measures, place_of(reading)[0]), fact, target, observed, reading["collected_at"])

def record(signal, entity, top=True):
    readings, looked = timeline(signal, entity)
    latest, cadence = readings[-1], SIGNALS[signal]["cadence"]
    previous, changed = change(signal, readings)
    stat_ruler, strata, _ = statistics(signal, readings)
    _, latitude, longitude = place_of(latest)
    trend = [{"observed_at": one["observed_at"], "value": main_value(signal, one)} for one in readings[-7:]]
    made = {
        "tier": "full", "latitude": latitude, "longitude": longitude, "official_cadence": cadence, "last_looked_at": looked,
        "update_status": update_status(cadence, latest["observed_at"], looked), "previous": previous, "change": changed,
        "trend_7d": trend, "sources": latest["sources"], "source_agreement_cv": agreement(latest["sources"]),
        "standard_ruler": standing(signal, latest), "stat_ruler": stat_ruler, "strata": strata, "lifecycle": None,
        "source_ref": latest["source_ref"], "source_tier": latest["source_tier"],
        "provenance": provenance([link_of(signal, latest)], ["update_status"], top=top),
    }
    return dict(made, **identity(signal, latest), **taken(latest))

def add_on(dim, target, member):
    signal, (readings, _) = RIVER[0], timeline(*RIVER)
    return dict(identity(signal, readings[-1]), **{
        "dim": dim, "observed_at": readings[-1]["observed_at"], dim: member, "_citation": said(signal, readings[-1], target),
        "provenance": provenance([link_of(signal, readings[-1])])})

def row_of(signal, reading):
    _, latitude, longitude = place_of(reading)
    return dict(identity(signal, reading), **taken(reading), **{
        "latitude": latitude, "longitude": longitude, "band": band(signal, reading), "lifecycle": None,
        "sources": reading["sources"], "source_ref": reading["source_ref"], "source_tier": reading["source_tier"]})

def census(signal, target):
    latest = [timeline(signal, entity)[0][-1] for entity in entities(signal)]
    first, last = (pick(latest, key=lambda one: one["observed_at"]) for pick in (min, max))
    fact = "%s: %d entities, read from %s to %s" % (signal, len(latest), first["observed_at"], last["observed_at"])
    claim, looked = "census of " + SIGNALS[signal]["measures"], max(one["collected_at"] for one in latest)
    return {"signal_id": signal, "measures": SIGNALS[signal]["measures"], "count": len(latest), "observed_at": first["observed_at"],
            "rows": [row_of(signal, one) for one in latest], "provenance": provenance([link_of(signal, first), link_of(signal, last)]),
            "_citation": cited(claim, fact, target, first["observed_at"], looked)}

def life_cycle(subject, target):
    found = [(signal, timeline(signal, subject)[0][-1]) for signal in SIGNALS if signal.endswith(".lifecycle")
             and subject in entities(signal)]
    states = "; ".join("%s state %s" % (signal, one["current"]["state"]) for signal, one in found)
    rows = [{"signal_id": signal, "observed_at": one["observed_at"], "lifecycle": one["lifecycle"]} for signal, one in found]
    first, collected = found[0][1], max(one["collected_at"] for _, one in found)
    return dict(rows[0], **{"dim": "lifecycle", "entity": subject, "entity_name": None, "also": rows[1:],
                "provenance": provenance([link_of(*found[0])]),
                "_citation": cited("life-cycle state of " + subject, states, target, first["observed_at"], collected)})

def city(addon, words, signals, loc, target):
    found = [(signal, timeline(signal, loc)[0][-1]) for signal in signals if loc in entities(signal)]
    facts = "; ".join("%s %s at %s" % (signal, read_words(signal, one), one["observed_at"]) for signal, one in found)
    parts = [(signal, SIGNALS[signal]["cadence"], one["observed_at"]) for signal, one in found]
    made = provenance([link_of(*pair) for pair in found], ["freshness_leg"], parts)
    made["freshness_rule"] = "the worst of %d readings, each by its own freshness_basis" % len(found)
    return {"addon": addon, "location": loc, "name": PLACES[loc]["name"], "line": "environment", "provenance": made,
            "readings": [dict(record(signal, loc, top=False), lit=lit(signal, one)) for signal, one in found],
            "_citation": cited("%s of %s" % (words, loc), facts, target, min(one["observed_at"] for _, one in found),
                               max(one["collected_at"] for _, one in found))}

def joined(found, narrative, made):
    """What bundles and documents of legs have alike; found: (leg, position, cadence, dimension, signal, entity, name, band, lit, row)."""
    legs, parts = {}, []
    for leg, position, cadence, _, signal, entity, name, placed, is_lit, row in found:
        key, word = signal.split(".", 1)[1], freshness(cadence, row["observed_at"])[0]
        parts.append((key, cadence, row["observed_at"]))
        legs[key] = {"leg": leg, "position": position, "observed_at": row["observed_at"], "freshness": word,
                     "data_age_hours": hours(row["observed_at"], row["collected_at"]), "freshness_basis": basis(cadence),
                     "signal_id": signal, "entity": entity, "entity_name": name, "current": row["current"], "lit": is_lit}
    names = [key for key in legs if legs[key]["lit"]]
    owed = ["freshness_leg", "legs[].freshness"]
    origin = provenance([(one[4], one[3], one[2], one[9]) for one in found], owed, parts)
    origin["freshness_rule"] = "the worst of %d legs, each by its own freshness_basis" % len(found)
    spans = [{"leg": one["leg"], "signal_id": one["signal_id"], "observed_at": one["observed_at"],
              "hours_since": one["data_age_hours"]} for one in legs.values()]
    return dict(made, legs=legs, legs_lit={"count": len(names), "of": made.pop("of"), "names": names}, provenance=origin,
                data_timespans=spans, cross_line_narrative=narrative)

def bundle(loc, target):
    line, found, words, degraded = LINES["environment"], [], [], []
    for position, leg in enumerate(line["bundle"]["legs"], 1):
        for signal in leg["signals"]:
            entity = next((one["entities"][loc] for one in line["entityOf"] if signal in one["signals"]), loc)
            readings, looked = timeline(signal, entity)
            start = "Leg %d, %s: " % (position, leg["name"])
            if not readings:
                words.append(start + "no reading of %s is stored." % signal)
                degraded.append({"leg": leg["name"], "signal_id": signal, "reason": "no reading is stored"})
                continue
            latest, placed = readings[-1], band(signal, readings[-1])
            said_class = ', class "%s"' % placed if placed else ""
            words.append("%s%s at %s %s%s at %s." % (start, SIGNALS[signal]["measures"], place_of(latest)[0],
                                                    read_words(signal, latest), said_class, latest["observed_at"]))
            found.append((leg["name"], position, SIGNALS[signal]["cadence"], "environment", signal, entity,
                          place_of(latest)[0], placed, lit(signal, latest), latest))
            if freshness(SIGNALS[signal]["cadence"], latest["observed_at"], looked)[0] == "stale":
                degraded.append({"leg": leg["name"], "signal_id": signal, "reason": STALE % latest["observed_at"]})
    made = joined(found, " ".join(words), {"of": 6, "location": loc, "name": PLACES[loc]["name"]})
    for leg, one in zip(made["legs"].values(), found):
        leg["band"] = one[7]
    made["leg_availability"] = {"expected": 6, "available": len(found), "degraded": degraded}
    weak = {one["signal_id"] for one in degraded}
    last = max((one for one in made["legs"].values() if one["signal_id"] not in weak), key=lambda one: one["observed_at"])
    made["last_fact"] = {name: last[name] for name in ("leg", "signal_id", "entity", "current", "band", "observed_at")}
    oldest, newest = min(one[9]["observed_at"] for one in found), max(one[9]["collected_at"] for one in found)
    claim = "%s: joined readings of %s, in causal order" % (line["title"], loc)
    made["_citation"] = cited(claim, " ".join(words), target, oldest, newest)
    return made

def thin_bundle(loc, target):
    whole = bundle(loc, target)
    names = ("position", "signal_id", "entity", "observed_at", "current", "band", "lit")
    source, lit_legs = whole["_citation"]["source"], whole["legs_lit"]
    return {"location": loc, "observed_at": source["published_at"], "leg_availability": whole["leg_availability"],
            "legs": {key: {name: leg[name] for name in names} for key, leg in whole["legs"].items()},
            "_citation": cited("joined readings of " + loc, "%(count)d of %(of)d legs lit" % lit_legs, target,
                               source["published_at"], whole["_citation"]["retrieved_at"])}

# --- rosters ---

def subjects(kind, name):
    """Rows of each subject by capture day, and all capture days."""
    found = {}
    for row in rows(kind):
        found.setdefault(row[name].replace(".", "-"), []).append(row)
    return dict(sorted(found.items())), sorted({row["capture_date"] for row in rows(kind)})

def days_between(first, last):
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).days

def is_depegged(row):
    price = row["current"]["price_in_peg"]
    return price is not None and not Decimal("0.95") <= price <= Decimal("1.05")

def life(kind, found, days):
    """A4, membership: the lifecycle of a subject, how many captures lack it, and the row of its death."""
    seen = [row["capture_date"] for row in found]
    missed = [day for day in days if day > seen[-1]]
    made = {"state": "operating", "first_seen": seen[0], "last_seen": seen[-1], "end_at": None}
    absences = 1 if kind != "stable.coin" else 2
    if len(missed) >= absences:
        made.update(state="absent", end_at=missed[absences - 1])
    if kind == "stable.coin":
        priced, made["peg"] = [row for row in found if row["current"]["price_in_peg"] is not None], found[-1]["current"]["peg"]
        run = []
        for row in priced:
            run = run + [row["capture_date"]] if Decimal(row["current"]["price_in_peg"]) < Decimal("0.1") else []
        if run:
            made.update(state="dead", end_at=run[0])
        elif missed and made["state"] == "operating":
            made["state"] = "missing"
        elif made["state"] == "operating" and is_depegged(found[-1]):
            made["state"] = "at_risk"
    return made, len(missed)

ROSTERS = {"trust.service": ("x402-services", "host"), "mcp.server": ("mcp-servers", "server_id"),
           "stable.coin": ("stablecoin-peg", "coin_id")}

def roster(kind, member, made_rows, claim, target, taken_rows, cadence="daily"):
    """A list: as old as its oldest row; one link for each source."""
    dimension = ROSTERS.get(kind, ("stablecoin-peg",))[0]
    oldest = min(taken_rows, key=lambda row: row["observed_at"])
    made = provenance([(kind, dimension, cadence, oldest)])
    made["data_as_of"] = max(row["observed_at"] for row in taken_rows)
    fact = "%d %s, the oldest observed at %s" % (len(made_rows), member, oldest["observed_at"])
    with_hash = sum(not row.get("imported", False) for row in taken_rows)
    return {"count": len(made_rows), member: made_rows, "observed_at": oldest["observed_at"], "provenance": made,
            "record_hash_verifiable": {"with_hash": with_hash, "total": len(made_rows)},
            "_citation": cited(claim, fact, target, oldest["observed_at"], max(row["collected_at"] for row in taken_rows))}

def graveyard(kind, claim, target):
    found, days = subjects(kind, ROSTERS[kind][1])
    dead, last_rows = [], []
    for entity, captures in found.items():
        state, missed = life(kind, captures, days)
        if state["end_at"]:
            absences = {"trust.service": 1, "mcp.server": 1, "stable.coin": 2}[kind] if state["state"] == "absent" else None
            dead.append({"entity": entity, "name": captures[-1].get("name", captures[-1].get("host")), "state": state["state"],
                         "died_on": state["end_at"], "first_seen": state["first_seen"], "last_seen": state["last_seen"],
                         "lifespan_days": days_between(state["first_seen"], state["last_seen"]), "confirm_absences": absences})
            last_rows.append(captures[-1])
    return roster(kind, "deaths", dead, claim % days[-1], target, last_rows)

def roster_rows(kind, target):
    """Rows of the census of a collection, one of its subjects, and the words of both."""
    found, days = subjects(kind, ROSTERS[kind][1])
    if kind == "trust.service":
        there = {entity: rows for entity, rows in found.items() if rows[-1]["capture_date"] == days[-1]}
        made = [dict({"service": entity, "lifecycle": life(kind, rows, days)[0]}, **echo(rows[-1], SCORED), name=rows[-1]["host"])
                for entity, rows in there.items()]
        claim = "demand of the x402 services captured on " + days[-1]
        return roster(kind, "rows", [dict(one, model="demand-v1") for one in made], claim, target, [rows[-1] for rows in there.values()])
    if kind == "mcp.server":
        made = [{"entity": entity, "name": rows[-1].get("name"), "status": rows[-1]["status"], "lifecycle": life(kind, rows, days)[0],
                 "missing_streak": life(kind, rows, days)[1]} for entity, rows in found.items()]
        return roster(kind, "rows", made, "MCP servers captured up to " + days[-1], target, [rows[-1] for rows in found.values()])
    ranked = sorted(found.items(), key=lambda one: (one[1][-1]["current"]["market_cap_usd"] is None,
                                                    -(one[1][-1]["current"]["market_cap_usd"] or 0)))
    made = []
    for rank, (entity, rows) in enumerate(ranked, 1):
        state, _ = life(kind, rows, days)
        flags = {"terminated": state["state"] == "dead", "depegged": is_depegged(rows[-1])}
        made.append({"rank": rank, "entity": entity, "symbol": rows[-1]["symbol"], "name": None, "lifecycle": dict(state, **flags),
                     "market_cap_usd": rows[-1]["current"]["market_cap_usd"], "price_in_peg": rows[-1]["current"]["price_in_peg"]})
    claim = "stablecoins by market cap, captured up to " + days[-1]
    return roster(kind, "rows", made, claim, target, [rows[-1] for _, rows in ranked])

SCORED = ("score_total", "liveness_state", "demand_class")
DEMAND = SCORED + ("liveness_streak", "baseline_delta", "first_endpoint", "calls_30d", "unique_payers_30d", "demand_depth",
                   "endpoints", "endpoints_by_class", "last_called_at")

def echo(row, names):
    return {name: row[name] for name in names}

def subject(kind, entity, more, claim, fact, target):
    found, days = subjects(kind, ROSTERS[kind][1])
    row, (state, missed) = found[entity][-1], life(kind, found[entity], days)
    made = dict(echo(row, ("capture_date", "observed_at", "source_ref", "source_tier")), **more(row, missed))
    return dict(made, lifecycle=state, data_age_hours=hours(row["observed_at"], row["collected_at"]),
                provenance=provenance([(kind, ROSTERS[kind][0], "daily", row)]),
                _citation=cited(claim, fact % row, target, row["observed_at"], row["collected_at"]))

def deaths(target):
    kept = sorted(rows("stablecoin.death"), key=lambda row: (row["symbol"], row["name"]))
    names = ("symbol", "name", "death_type", "confirmed_dead_at", "pre_death_observed_at", "first_distress_at", "lifespan_days",
             "pre_death_payload", "death_context", "source_ref", "source_tier")
    claim = "stablecoins that died, with what was last measured before"
    return roster("stablecoin.death", "records", [echo(row, names) for row in kept], claim, target, kept, "as-events")

# --- documents, filings, watchlists ---

def document(operation, target):
    row = next(one for one in rows("document") if one["operation"] == operation)
    collected, claim = row["collected_at"], "%s, as stored for %s" % (row["title"], target)
    if row["form"] == "article":
        made = echo(row, ("operation", "params", "title", "text", "rows", "observed_at", "source_ref", "source_tier"))
        fact = "%d rows, observed at %s" % (len(row["rows"]), row["observed_at"])
        return dict(made, count=len(row["rows"]), data_age_hours=hours(row["observed_at"], collected),
                    provenance=provenance([("document", operation, row["cadence"], row)]),
                    _citation=cited(claim, fact, target, row["observed_at"], collected))
    legs, words, found = [dict(leg, collected_at=collected) for leg in row["legs"]], [], []
    for position, leg in enumerate(legs, 1):
        (metric, value), = leg["current"].items()
        words.append("Leg %d, %s: %s at %s read %s %s at %s." % (position, leg["leg"], leg["measures"], leg["entity"], metric,
                                                                text_of(value), leg["observed_at"]))
        found.append((leg["leg"], position, row["cadence"], operation, leg["signal_id"], leg["entity"], None, None, None, leg))
    made = joined(found, " ".join(words), {"of": len(legs), "name": None, "title": row["title"]})
    for shown, leg in zip(made["legs"].values(), legs):
        shown.update(echo(leg, ("measures", "sources", "source_ref", "source_tier")), lifecycle=None,
                     snapshot_date=collected[:10] + "T00:00:00Z")
    made["_citation"] = cited(claim, " ".join(words), target, min(leg["observed_at"] for leg in legs), collected)
    return made

def filings(form, cutoff, basis_of, echoed):
    """A7: the interval of a cutoff, what is selected by it, and the words for that."""
    listing, *kept = rows("filing.submission")
    by, looked = ("filing_date", listing["collected_at"][:10]) if basis_of == "filing_date" else ("disclosure_time", listing["collected_at"])
    own = sorted((row for row in kept if row["form"] in (form, form + "/A")), key=lambda row: row["filing_date"])
    starts = [row[by] for row in own]
    start, end = max(one for one in starts if one <= cutoff), min([one for one in starts if one > cutoff] + [looked])
    filed = [row for row in own if row["form"] == form and row[by] <= cutoff]
    later = [row for row in own if row["form"] != form and filed[-1]["filing_date"] <= row["filing_date"] and row[by] <= cutoff]
    note = ("By filing day, the newest form %s that the stored list holds until the cutoff is %s %s of the filing day %s."
            % (form, form, filed[-1]["accession"], filed[-1]["filing_date"]))
    if later:
        note += " Amendments of its filing day or a later one that lie before the cutoff or may do so: %d." % len(later)
    head = {"entity": CIK, "entity_name": listing["name"], "tickers": listing["tickers"], "form": form, "event_class": None,
            "other_than": None, "source_class": "sec", "basis": basis_of, "valid_days": None, "valid_from": start, "valid_until": end,
            "observed_at": listing["collected_at"], "note": note, "cutoff_time": echoed, "market_or_event": None}
    shown = [dict(echo(row, ("accession", "form", "items", "event_time", "filing_date", "disclosure_time", "acceptance_basis", "source",
                             "source_ref", "source_tier")), entity=CIK, observed_at=row["disclosure_time"],
                  snapshot_date=row["collected_at"][:10] + "T00:00:00Z", is_amendment=row["form"] != form,
                  evidence_url=row["source_ref"], retrieved_at=row["collected_at"]) for row in [filed[-1]] + later]
    claim = "filing record of form %s by %s, cutoffs from %s on, before %s" % (form, listing["name"], start, end)
    return head, shown, lambda path: cited(claim, note, "%s?cutoff=%s&entity=%s&form=%s" % (
        path, start.replace(":", "%3A"), CIK, form.replace(" ", "%20")), listing["collected_at"], listing["collected_at"])

def resolve(form, cutoff, echoed):
    head, shown, citation = filings(form, cutoff, "filing_date", echoed)
    first = shown[0]
    return dict(head, resolution_status="ambiguous" if len(shown) > 1 else "resolved", filed_by_cutoff=True, disclosure_date=first["filing_date"],
                event_time=first["event_time"], disclosure_time=first["disclosure_time"], candidate_count=len(shown),
                candidate_sources=shown, _citation=citation("/resolve"))

def proposer(form, cutoff):
    head, shown, citation = filings(form, cutoff, "acceptance_time", cutoff)
    first = shown[0]
    return dict(head, answer=True, confidence=1, timestamp=first["disclosure_time"], evidence_url=first["source_ref"],
                source_tier=first["source_tier"], evidence=first, _citation=citation("/resolve/proposer"))

def watch(loc, missing=(), since=""):
    found = []
    for signal in [leg for leg in SIGNALS if SIGNALS[leg]["line"]["id"] == "environment"]:
        entity = next((one["entities"][loc] for one in LINES["environment"]["entityOf"] if signal in one["signals"]), loc)
        readings, _ = timeline(signal, entity)
        if readings and readings[-1]["observed_at"] > since:
            found.append(dict(identity(signal, readings[-1]), **echo(taken(readings[-1]), ("observed_at", "data_age_hours", "current")),
                              band=band(signal, readings[-1]), provenance=provenance([link_of(signal, readings[-1])])))
    items = [{"item": "environment:" + one, "industry": "environment", "entity": one, "found": one == loc,
              "rows": found if one == loc else []} for one in (loc,) + missing]
    return dict({"as_of": AS_OF, "count": len(found), "items": items, "unknown_items": ["environment:" + one for one in missing]},
                **({"since": since} if since else {}))

def sweep():
    kept = [{"industry": SIGNALS[signal]["line"]["industry"], "signal_id": signal, "entity": entity,
             "observed_at": timeline(signal, entity)[0][-1]["observed_at"]} for signal in SIGNALS for entity in entities(signal)]
    return {"as_of": AS_OF, "page": 1, "pages": 1, "total": len(kept), "next": None, "rows": kept}

RIVER, CIK = ("hydrology.river-level", "06714000"), "0000123456"

def golden():
    """(name, target of the citation or the request, figures)"""
    pair = "entity=06714000&%ssignal_id=hydrology.river-level"
    readings, _ = timeline(*RIVER)
    latest, whole = readings[-1], record(*RIVER)
    ruler, stat, table = whole["standard_ruler"], whole["stat_ruler"], statistics(RIVER[0], readings)[2]
    calibrated = echo(ruler, ("normalized_index", "pct_to_action"))
    at_gauge, thin = "/gauge?" + pair % "", {key: whole[key] for key in ("signal_id", "entity", "observed_at", "current")}
    yield "record", at_gauge, dict(whole, _citation=said(RIVER[0], latest, at_gauge))
    target = "/gauge?" + pair % "format=thin&"
    yield "record-thin", target, dict(thin, band=ruler["band"], entity_name=whole["entity_name"], _citation=said(RIVER[0], latest, target))
    history = {"seasonal_percentile": stat["current_percentile"], "frequency": stat["frequency_label"], "percentile_table": table,
               "window_years": stat["window_years"], "n": stat["n"], "source": measurers(latest)}
    for dim, member in (("ruler", ruler), ("calibrated", calibrated), ("strata", whole["strata"]), ("history", history)):
        target = "/gauge/%s?%s" % (dim, pair % "")
        yield dim, target, add_on(dim, target, member)
    target = "/gauge/calibrated?" + pair % "format=thin&"
    yield "calibrated-thin", target, dict(thin, dim="calibrated", band=ruler["band"], calibrated=calibrated, _citation=said(RIVER[0], latest, target))
    drought = timeline("agriculture.drought", "us-iowa")[0][-1]
    target = "/gauge?entity=us-iowa&signal_id=agriculture.drought"
    yield "record-down", target, dict(record("agriculture.drought", "us-iowa"), _citation=said("agriculture.drought", drought, target))
    columns = ("snapshot_date", "observed_at", "data_age_hours", "current", "band")
    shown = [echo(row_of(RIVER[0], one), columns) for one in readings]
    target, kept = "/gauge/history-series?" + pair % "", [one for one in shown if one["snapshot_date"] >= "2024-02-24"]
    fact = "%s of %s: %d stored readings, snapshots of %s to %s" % (RIVER + (len(kept), kept[0]["snapshot_date"], kept[-1]["snapshot_date"]))
    cut = [one for one in kept if one["snapshot_date"] >= "2026-11-19"]
    older = kept[-len(cut) - 1]["snapshot_date"]
    yield "history-series", target + "&days=2", dict(
        identity(RIVER[0], latest), tier="history-series", observed_at=latest["observed_at"], days=2, count=len(cut), rows=cut,
        columns=list(columns) + ["record_hash"], before={"rows": len(shown) - len(cut), "snapshot_date": older},
        retained={"rows": len(shown), "from": kept[0]["snapshot_date"], "to": kept[-1]["snapshot_date"], "older_rows": len(shown) - len(kept)},
        provenance=provenance([link_of(RIVER[0], latest)]),
        _citation=cited("series of " + said(RIVER[0], latest, "")["claim"], fact, target, latest["observed_at"], latest["collected_at"]))
    bare = ("latitude longitude snapshot_date observed_at update_status official_cadence last_looked_at data_age_hours current previous "
            "change trend_7d sources lifecycle source_ref source_tier provenance signal_id entity entity_name")
    yield "raw", "/gauge/raw?" + pair % "", echo(whole, bare.split())
    yield "history-preview", "/gauge/history-preview?" + pair % "", dict(
        identity(RIVER[0], latest), count=7, rows=[echo(one, columns[:4]) for one in shown[-7:]])
    made = {
        "census": ("/gauge/census?signal_id=hydrology.river-level", lambda target: census(RIVER[0], target)),
        "lifecycle": ("/gauge/lifecycle?entity=kyoto-protocol", lambda target: life_cycle("kyoto-protocol", target)),
        "air": ("/gauge/air?loc=us-denver", lambda target: city(
            "air", "air quality readings", ("airquality.aqi", "airquality.pm25"), "us-denver", target)),
        "precip": ("/gauge/precip?loc=us-denver", lambda target: city(
            "precip", "precipitation readings", ("precipitation.daily", "precipitation.wetness30d"), "us-denver", target)),
        "bundle": ("/gauge/region?loc=us-denver", lambda target: bundle("us-denver", target)),
        "bundle-thin": ("/gauge/region?loc=us-denver&format=thin", lambda target: thin_bundle("us-denver", target)),
        "scorecard": ("/trust/scorecard", lambda target: roster_rows("trust.service", target)),
        "mcp-census": ("/mcp/census", lambda target: roster_rows("mcp.server", target)),
        "stable-census": ("/stable/census", lambda target: roster_rows("stable.coin", target)),
        "trust-graveyard": ("/trust/graveyard", lambda target: graveyard(
            "trust.service", "x402 services that a capture up to %s no longer found", target)),
        "mcp-graveyard": ("/mcp/graveyard", lambda target: graveyard(
            "mcp.server", "MCP servers that a capture up to %s no longer found", target)),
        "stable-graveyard": ("/stable/graveyard", lambda target: graveyard(
            "stable.coin", "stablecoins terminated or persistently absent by %s", target)),
        "deaths": ("/stablecoin-deaths", deaths),
        "service": ("/trust/precheck?service=back-example", lambda target: subject(
            "trust.service", "back-example", lambda row, _: dict(echo(row, DEMAND), service_id="back-example", name=row["host"],
            domain=row["host"], model="demand-v1"), "demand record of the x402 service back-example",
            "%(host)s as captured on %(capture_date)s: ordering key %(score_total)s, demand class %(demand_class)s", target)),
        "server": ("/mcp/server?name=gone-mcp", lambda target: subject(
            "mcp.server", "gone-mcp", lambda row, missed: {"server_id": "gone-mcp", "name": None, "status": row["status"],
            "missing_streak": missed}, "registry record of the MCP server gone-mcp",
            "%(server_id)s as captured on %(capture_date)s: status %(status)s", target)),
        "coin": ("/stable/coin?symbol=WRECK", lambda target: subject(
            "stable.coin", "wreck", lambda row, _: dict(echo(row, ("coin_id", "symbol", "current")), name=None),
            "price and life-cycle record of the stablecoin wreck",
            "wreck as captured on %(capture_date)s: price in units of its peg 0.02", target)),
        "document-legs": ("/gauge/taiwan-region", lambda target: document("/gauge/taiwan-region", target)),
        "document-article": ("/shadow/chatter?topic=energy", lambda target: document("/shadow/chatter", target)),
        "resolve": ("/resolve?cutoff=2026-02-10&entity=EXMP&form=10-K", lambda _: resolve("10-K", "2026-02-10", "2026-02-11T04:59:59Z")),
        "resolve-ambiguous": ("/resolve?cutoff=2026-03-31&entity=EXMP&form=10-K", lambda _: resolve("10-K", "2026-03-31", "2026-04-01T03:59:59Z")),
        "proposer": ("/resolve/proposer?cutoff=2026-05-15T12%3A00%3A00Z&entity=EXMP&form=4", lambda _: proposer("4", "2026-05-15T12:00:00Z")),
        "watch": ("/gauge/watch?items=environment%3Aus-denver%2Cenvironment%3Anowhere", lambda _: watch("us-denver", ("nowhere",))),
        "watch-changes": ("/gauge/watch-changes?items=environment%3Aus-denver&since=2026-11-20T08%3A00%3A00Z",
                          lambda _: watch("us-denver", since="2026-11-20T08:00:00Z")),
        "sweep": ("/gauge/manifest-sweep", lambda _: sweep()),
    }
    for name, (target, make) in made.items():
        yield name, target, make(target)

def printed(value):
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True,
                      default=lambda number: int(number) if number == int(number) else float(number))

if __name__ == "__main__":
    everything = {name: {"target": target, "figures": figures} for name, target, figures in golden()}
    if "--write" in sys.argv:
        for name, body in everything.items():
            with open(os.path.join(HERE, "expected", name + ".json"), "w", encoding="utf-8") as file:
                file.write(printed(body) + "\n")
    else:
        print(printed(everything))
