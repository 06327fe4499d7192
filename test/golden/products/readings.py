"""What follows from the lines of one reading: its place on a scale and in its season, its change, its words of time.

Written from FORMAT.md (F), AUDIT.md (A) and the section "Figures" of PRODUCTS.md; scales, names and legs are data of the catalogue.
"""
import json
import os
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
BUILTIN = os.path.join(HERE, "../../../compiler/catalog/builtin")
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
    found = []
    with open(os.path.join(HERE, "shop.txt"), encoding="utf-8") as file:
        parts = ("\n" + file.read()).split("\n== ")[1:]
    for path, *texts in (part.splitlines() for part in parts):
        if path.endswith("/" + name + ".ndjson"):
            header, *lines = (json.loads(text, parse_float=Decimal) for text in texts)
            found += [dict(header["header"], **line) for line in lines]
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

def read_words(signal, reading):
    """What a reading read: its number and unit, or "no value"."""
    value = main_value(signal, reading)
    unit = UNITS[SIGNALS[signal]["metrics"][0]]
    return "read " + ("no value" if value is None else ("%s %s" % (text_of(value), unit)).strip())

def text_of(number):
    return format(Decimal(number).normalize(), "f")
