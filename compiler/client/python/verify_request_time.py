"""Members of request time, which follow from signed ones and one instant, and the legs that are lit."""

import re

from verify_json import DAY_MS, ENDLESS, HOUR_MS, Refused, canonical, milliseconds, objects, told

# Members that depend on the moment of the request, by the signed member beside them that they follow from.
REQUEST_TIME = {"freshness_basis": ("age_hours_now", "freshness", "freshness_leg", "dead_source"),
                "last_looked_at": ("update_status",)}
# More parts than any body of the service joins; what follows from them is computed anew for each of their turns.
PARTS_MAX = 16
TENTH_MS = HOUR_MS // 10
CLOCK_SKEW_MS = 300000
BOUNDS = {"hourly": (3, 24, 168), "daily": (24, 192, 1440), "weekly": (192, 744, 4380), "monthly": (1080, 2160, 8760),
          "quarterly": (3000, 6600, 17520), "yearly": (9000, 18000, 43800), "as-events": (744, 8760, 17520)}
DUE_HOURS = {"hourly": 3, "daily": 48, "weekly": 216, "monthly": 1440, "quarterly": 3600, "yearly": 10000}
LOOK_HOURS = dict(DUE_HOURS, **{"as-events": 744})
WORDS = ("fresh", "recent", "stale", "stale")
BASIS = "cadence=%s; fresh<=%dh; recent<=%dh; dead_source>%dh; age_basis=request-time(now minus observed_at)"
BASES = {BASIS % ((cadence,) + bounds): cadence for cadence, bounds in BOUNDS.items()}
RULE = re.compile(r"the worst of ([1-9]\d{0,3}) (?:legs|readings), each by its own freshness_basis")


def tenths(age_ms):
    return (2 * max(0, age_ms) + TENTH_MS) // (2 * TENTH_MS)


def rank_of(cadence, at, now):
    """0 fresh, 1 recent, 2 stale, 3 of a dead source."""
    return sum(max(0, now - at) > hours * HOUR_MS for hours in BOUNDS[cadence])


def aged(name, holder, text):
    """Name, cadence, instant and its text of what is judged by its own basis; None for a basis of another service."""
    cadence, at = BASES.get(word(holder, "freshness_basis")), milliseconds(text)
    return None if cadence is None or at is None else (name, cadence, at, text)


def word(holder, name):
    """A member that is absent or a text."""
    if name in holder and not isinstance(holder[name], str):
        raise Refused("%s: not a text" % name)
    return holder.get(name)


def parts_of(node, rule):
    """The legs or readings that a joined body is as fresh as; none for a body that is judged by itself."""
    if rule is None:
        return []
    found = RULE.fullmatch(rule)
    if found is None:
        return None
    if int(found.group(1)) > PARTS_MAX:
        raise Refused("freshness_rule: about more than %d parts" % PARTS_MAX)
    if isinstance(node.get("legs"), dict):
        parts = [aged(name, leg, leg.get("observed_at")) for name, leg in node["legs"].items()]
    else:
        parts = [aged(reading["signal_id"], reading["provenance"], reading["provenance"].get("oldest_leg_as_of"))
                 for reading in node.get("readings", [])]
    if None in parts or len(parts) != int(found.group(1)):
        raise Refused("freshness_rule: not about the parts of the body")
    return parts


def provenance_at(own, parts, now):
    """What a provenance says at an instant."""
    worst = min(parts or [own], key=lambda part: (-rank_of(part[1], part[2], now), part[2], part[0]))
    rank = rank_of(worst[1], worst[2], now)
    said = {"age_hours_now": tenths(now - own[2]) / 10, "freshness": WORDS[rank]}
    if parts:
        said["freshness_leg"] = worst[0]
    if rank == 3:
        said["dead_source"] = "no official reading since " + worst[3]
    return said


def status_at(record, now):
    """The update_status of a record at an instant."""
    cadence, observed, looked = record["official_cadence"], record["observed_at"], record["last_looked_at"]
    due, counts = due_of(record), milliseconds(looked) + LOOK_HOURS[cadence] * HOUR_MS
    late = due is not None and milliseconds(looked) > due
    state, days = "unknown", None
    if late and now <= counts:
        state, days = "overdue", max(0, (now - due) // DAY_MS)
        text = "overdue for a source that publishes %s" % cadence
    elif not late and now <= (counts if due is None else due):
        state, text = "on_schedule", "published as events occur" if due is None else "on schedule (%s)" % cadence
    elif late or due is None:
        text = "unknown: nobody has looked for more than %d hours (%s)" % (LOOK_HOURS[cadence], cadence)
    else:
        text = "unknown: nobody has looked since the next %s reading was due" % cadence
    text += "; last official reading %s, last looked at %s" % (observed, looked)
    return {"update_status": {"state": state, "official_cadence": cadence, "overdue_days": days, "text": text}}


def due_of(record):
    hours = DUE_HOURS.get(record["official_cadence"])
    return None if hours is None else milliseconds(record["observed_at"]) + hours * HOUR_MS


def claims_of(path, node):
    """Place, shown members, what follows at an instant, and the last instants before that changes."""
    provenance, legs = node.get("provenance"), node.get("legs")
    if not isinstance(provenance, dict):
        return
    own = aged("", provenance, provenance.get("oldest_leg_as_of"))
    parts = None if own is None else parts_of(node, word(provenance, "freshness_rule"))
    if parts is not None:
        turns = [turn for part in parts or [own] for turn in turns_of(part)]
        yield (path, "provenance"), shown(provenance), lambda now: provenance_at(own, parts, now), turns, own
    for name, leg in legs.items() if isinstance(legs, dict) else ():
        part = aged(name, leg, leg.get("observed_at"))
        if part is not None:
            yield ((path, "legs"), name), shown(leg), leg_at(part), turns_of(part), None
    if "last_looked_at" in node:
        if node.get("official_cadence") not in BOUNDS or milliseconds(node["last_looked_at"]) is None:
            raise Refused("last_looked_at: not a time beside a cadence")
        yield path, shown(node), lambda now: status_at(node, now), status_turns(node), None


def leg_at(part):
    return lambda now: {"freshness": WORDS[rank_of(part[1], part[2], now)]}


def turns_of(part):
    return [part[2] + hours * HOUR_MS for hours in BOUNDS[part[1]]]


def status_turns(record):
    due = due_of(record)
    turns = [milliseconds(record["last_looked_at"]) + LOOK_HOURS[record["official_cadence"]] * HOUR_MS]
    days = (record.get("update_status") or {}).get("overdue_days")
    if due is not None:
        turns += [due] + [due + (days + more) * DAY_MS - 1 for more in (0, 1) if isinstance(days, int)]
    return turns


def shown(holder):
    names = [name for basis, names in REQUEST_TIME.items() if basis in holder for name in names]
    return {name: holder[name] for name in names if name in holder}


def check_request_time(body, now):
    """All that a body says of the moment of the request is true of one instant, which is not to come."""
    claims = [claim for path, node in objects(body) for claim in claims_of(path, node)]
    if not any(said for _, said, _, _, _ in claims):
        return
    windows = [(earliest(body) - CLOCK_SKEW_MS, now + CLOCK_SKEW_MS)]
    for where, said, _, _, own in claims:
        if own is not None:
            low, high = age_window(where, said.get("age_hours_now"), own[2])
            windows = [(max(low, start), min(high, end)) for start, end in windows]
    foreign = "_citation" in body and "claim" not in body["_citation"]
    for where, said, follows, turns, _ in claims:
        cut = [span for window in windows for span in spans(window, turns)]
        windows = joined(span for span in cut if agrees(said, follows(span[0]), foreign))
        if not windows:
            raise Refused("%s: does not follow from the signed members and the ages" % told(where))
    for path, node in objects(body):
        check_age(path, node.get("provenance"))


def earliest(body):
    """Nothing is served before it was collected and looked at."""
    times = [node.get("last_looked_at") for _, node in objects(body)]
    cited = [node["_citation"] for _, node in objects(body) if isinstance(node.get("_citation"), dict)]
    times += [citation.get("retrieved_at") for citation in cited if "claim" in citation]
    return max([milliseconds(text) or -ENDLESS for text in times], default=-ENDLESS)


def age_window(where, age, at):
    """The instants that an age leaves."""
    if age is None:
        return -ENDLESS, ENDLESS
    if isinstance(age, bool) or not isinstance(age, (int, float)) or not 0 <= age < 1e9 or round(age * 10) / 10 != age:
        raise Refused("%s: not an age in hours with one decimal" % told(where, "age_hours_now"))
    middle = at + round(age * 10) * TENTH_MS
    return middle - TENTH_MS // 2 if age > 0 else -ENDLESS, middle + TENTH_MS // 2 - 1


def check_age(path, provenance):
    """Nothing gets younger than it was when it was collected."""
    if isinstance(provenance, dict) and "age_hours_now" in provenance:
        if provenance["age_hours_now"] < provenance.get("data_age_hours", 0):
            raise Refused("%s: less than when it was collected" % told(path, "provenance", "age_hours_now"))


def spans(window, turns):
    """A window cut behind each turn."""
    low, high = window
    starts = [low] + sorted({turn + 1 for turn in turns if low <= turn < high})
    return [(start, end) for start, end in zip(starts, [start - 1 for start in starts[1:]] + [high]) if start <= end]


def joined(windows):
    """The same instants in as few windows as hold them; each window begins behind the one before it."""
    made = []
    for low, high in windows:
        if made and made[-1][1] + 1 == low:
            made[-1] = (made[-1][0], high)
        else:
            made.append((low, high))
    return made


def agrees(said, right, foreign):
    """Sentences of another issuer, whose citations have no claim, need only be where ours would be."""
    if foreign and isinstance(said.get("dead_source"), str) and "dead_source" in right:
        said = dict(said, dead_source=right["dead_source"])
    return canonical(said) == canonical(right)


def check_lit(body):
    """legs_lit counts the legs that are lit; their classes are signed, the lists of classes are in no body."""
    for path, node in objects(body):
        legs, lit = node.get("legs"), node.get("legs_lit")
        if not isinstance(legs, dict) or not isinstance(lit, dict):
            continue
        if not isinstance(lit.get("names"), list):
            raise Refused("%s: no list" % told(path, "legs_lit", "names"))
        names = [name for name, leg in legs.items() if leg.get("lit") is True]
        of = node.get("leg_availability", {}).get("expected", len(legs))
        places = [legs[name]["position"] for name in lit["names"] if name in legs]
        right = {"count": len(names), "of": of, "names": lit["names"]}
        if lit != right or sorted(lit["names"]) != sorted(names) or places != sorted(places):
            raise Refused("%s: not the count of the legs that are lit" % told(path, "legs_lit"))
        for name, leg in legs.items():
            known = leg["lit"] is None or (isinstance(leg["lit"], bool) and leg.get("band") is not None)
            if not known:
                raise Refused("%s: not of a class" % told(path, "legs", name, "lit"))
