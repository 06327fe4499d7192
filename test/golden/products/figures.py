#!/usr/bin/env python3
"""The figures of one body of each product, from the snapshot lines in shop.txt; no code of the product is read.

Written from SPEC.md, FORMAT.md (F4 is its section 4), AUDIT.md (A) and PRODUCTS.md. Prints {name: {target, figures}};
with --write it writes them to expected.json. products.test.ts compares the two, and the latter with the compiled bodies.

Some by hand: the stage of 8.2 ft stands in "action" (7 to 9), class 1 of 5, and (8.2-7)/(9-7) = 0.6 inside it, so the index is
(1+0.6)/5 = 32 and the share of the threshold 8.2/7 = 117.1 %. Of the 11 readings of its season 7 are below 8.2 and one is 8.2:
(7+0.5)/11 = 0.682. From 07:00 on 18 November to 15:20 on the 20th are 56.3 hours.
2.01 ft are 50.25 % of a threshold of 4 ft, so 50.3 %, and 10.05 % of the way through five classes, so 10.1.
"""
import json
import os
import sys
from datetime import datetime
from decimal import Decimal

sys.dont_write_bytecode = True
from readings import (
    AS_OF, HERE, LINES, PLACES, SIGNALS, STALE, agreement, band, basis, change, cited, freshness, hours, link_of, lit,
    load, main_value, measurers, place_of, provenance, read_words, rows, standing, statistics, text_of, timeline, entities, update_status)

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

def add_on(dim, target, member, latest):
    signal, observed = RIVER[0], latest["observed_at"]
    return dict(identity(signal, latest), **{
        "dim": dim, "observed_at": observed, dim: member, "_citation": said(signal, latest, target),
        "provenance": provenance([link_of(signal, latest)])})

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
        yield dim, target, add_on(dim, target, member, latest)
    target = "/gauge/calibrated?" + pair % "format=thin&"
    yield "calibrated-thin", target, dict(thin, dim="calibrated", band=ruler["band"], calibrated=calibrated, _citation=said(RIVER[0], latest, target))
    other = timeline(RIVER[0], "07010000")[0][-1]
    target = "/gauge/ruler?entity=07010000&signal_id=hydrology.river-level"
    yield "ruler-half", target, add_on("ruler", target, standing(RIVER[0], other), other)
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

def text(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True,
                      default=lambda number: int(number) if number == int(number) else float(number))

def written(bodies):
    """The file: each member of a body in a line of its own."""
    def members(figures):
        return ",\n".join("%s: %s" % (text(name), text(figures[name])) for name in sorted(figures))
    return "{\n%s\n}\n" % ",\n".join(
        "%s: {%s, \"figures\": {\n%s\n}}" % (
            text(name),
            ", ".join("%s: %s" % (text(part), text(body[part])) for part in ("target", "by_hand") if part in body),
            members(body["figures"]))
        for name, body in sorted(bodies.items()))

if __name__ == "__main__":
    bodies = {name: {"target": target, "figures": figures} for name, target, figures in golden()}
    if "--write" in sys.argv:
        path = os.path.join(HERE, "expected.json")
        by_hand = {name: body for name, body in load(path).items() if "by_hand" in body}
        with open(path, "w", encoding="utf-8") as file:
            file.write(written(dict(by_hand, **bodies)))
    else:
        print(text(bodies))
