"""Settlement answers, derived again from the signed filings and lists that they carry: compiler/contract/SETTLEMENTS.md."""

import datetime
import hashlib
import re

from verify_json import DAY_MS, ENDLESS, EPOCH, HASH, Refused, canonical, hash_of, is_same
from verify_shapes import between, day, fits, matching, null_or, one_of, text, utc_time, whole

CANDIDATES_MAX = 10
LIST_MAX = 1000
LEAD_DAYS = 7
NATURE = "The filing record at a cutoff; describes filings, never adjudicates the event; no forecast, no advice"
RENAMED = {"SCHEDULE 13D": "SC 13D", "SCHEDULE 13G": "SC 13G"}
WELL_KNOWN = ("10-K", "10-Q", "8-K", "NT 10-K", "NT 10-Q", "20-F", "40-F", "6-K", "SC 13D", "SC 13G", "3", "4", "5",
              "144", "13F-HR", "DEF 14A", "S-1", "S-3", "S-4", "S-8", "424B4", "11-K", "25", "15-12G") + tuple(RENAMED)
ITEM_FORMS = ("8-K", "8-K12B", "8-K12G3", "8-K15D5")
INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+ -]\d{2}:\d{2})", re.ASCII)


def cited(value):
    """The citation of a part, whose members are looked at where it is checked."""
    return isinstance(value, dict)


CIK, HEX = matching(r"\d{10}"), matching(r"[0-9a-f]{64}")
FACTS = {"hash_core_version": one_of(3), "entity": CIK, "accession": text, "form": text, "items": [text],
         "event_time": null_or(day), "filing_date": day, "disclosure_time": null_or(utc_time),
         "acceptance_basis": one_of("utc", "new-york", "undetermined"), "observed_at": utc_time,
         "snapshot_date": utc_time, "source": text, "source_ref": null_or(text), "source_tier": null_or(text)}
HASHED = {"record_hash": matching(HASH.pattern), "_hash_core": dict(FACTS, row=one_of("filing.submission"))}
ROW = dict(FACTS, nature=text, entity_name=text, is_amendment=one_of(True, False), evidence_url=null_or(text),
           grade=null_or(text), _citation=cited, **HASHED)
HEAD = {"form": text, "event_class": null_or(text), "count": whole(1), "amendments": whole(0), "lead_days": whole(0),
        "root": HEX}
COVERAGE = {"nature": text, "entity": CIK, "entity_name": text, "tickers": [text], "observed_at": utc_time,
            "covered_from": null_or(day), "gaps": [{"from": day, "to": day}], "covers": text,
            "filings_count": whole(1 - 2 ** 53), "lists": [HEAD], "source": text, "source_ref": null_or(text),
            "source_tier": null_or(text), "grade": null_or(text), "_citation": cited}
LIST = {"index": whole(0), "filings": between(1, between(1, HASHED, ENDLESS), LIST_MAX), "beside": [HEX]}
SETTLEMENT = {"nature": one_of(NATURE), "entity": text, "cik": CIK, "entity_name": text, "form": text,
              "event_class": null_or(text), "source_class": one_of("sec"), "market_or_event": null_or(text),
              "cutoff": text, "cutoff_time": utc_time, "cutoff_basis": one_of("filing_date", "acceptance_time"),
              "note": text, "list": null_or(LIST), "coverage": COVERAGE, "_citation": cited}
RESOLVE = dict(SETTLEMENT, filed_by_cutoff=null_or(one_of(True, False)), event_time=null_or(day),
               disclosure_time=null_or(utc_time), disclosure_date=null_or(day), candidate_count=whole(1 - 2 ** 53),
               candidate_sources=between(0, ROW, CANDIDATES_MAX),
               resolution_status=one_of("resolved", "no_authoritative_source", "ambiguous", "conflicting"))
PROPOSER = dict(SETTLEMENT, answer=null_or(one_of(True, False)), confidence=one_of(0, 1), timestamp=null_or(utc_time),
                evidence_url=null_or(text), source_tier=null_or(text), evidence=null_or(ROW))



def is_settlement(body):
    """Told by its shape, and one of an older form, without a list, by the part whose citation it repeats."""
    return fits(body, PROPOSER if "evidence" in body else RESOLVE) or is_older_answer(body)


def is_older_answer(body):
    if "list" in body or not (body.get("resolution_status") is not None or "confidence" in body):
        return False
    rows = body.get("candidate_sources")
    parts = (rows[:1] if isinstance(rows, list) else []) + [body.get("coverage"), body.get("evidence")]
    cited = [part["_citation"] for part in parts if isinstance(part, dict) and "_citation" in part]
    return "_citation" in body and any(is_same(citation, body["_citation"]) for citation in cited)


def check_settlement(body):
    """Derives the answer again from the filings and lists that it carries, whose citations hold; answers what that proves."""
    if "list" not in body:
        return "unsigned", "an answer of an older form: its parts are signed, what it answers does not follow from them"
    proposes = "evidence" in body
    rows = [row for row in [body["evidence"]] if row is not None] if proposes else body["candidate_sources"]
    parts = rows + [body["coverage"]]
    if not is_same(body["_citation"], parts[0]["_citation"]):
        raise Refused("_citation: not that of the part that the answer quotes")
    settled = settle(body)
    check_echo(body, parts)
    for name, want in (proposer_members if proposes else resolve_members)(settled).items():
        if not is_same(body[name], want):
            raise Refused("%s: the filings show %s" % (name, canonical(want)))
    given = settled["candidates"][:1 if proposes else CANDIDATES_MAX]
    if [row["record_hash"] for row in rows] != [filing["record_hash"] for filing in given]:
        raise Refused("%s: not the filings that count" % ("evidence" if proposes else "candidate_sources"))
    return "verified", "the answer follows from signed filings and lists; market_or_event repeats the request"


def check_echo(body, parts):
    """The question is a legal one, about the filer of every part, and its cutoff is read as it says."""
    coverage, parsed = body["coverage"], parse_cutoff(body["cutoff"])
    if any((part["entity"], part["entity_name"]) != (body["cik"], body["entity_name"]) for part in parts):
        raise Refused("cik, entity_name: not the filer of every part")
    if body["entity"] not in coverage["tickers"] and cik_of(body["entity"]) != body["cik"]:
        raise Refused("entity: no name of the filer")
    if (body["cutoff_time"], body["cutoff_basis"]) != (parsed["at"], parsed["basis"]):
        raise Refused("cutoff_time, cutoff_basis: not those of the cutoff")
    if len(set(part["_citation"]["issuer_DID"] for part in parts)) != 1:
        raise Refused("_citation.issuer_DID: the parts have several signers")


def cik_of(text):
    digits = re.fullmatch(r"(?:CIK)?(\d{1,10})", text, re.ASCII)
    return digits.group(1).rjust(10, "0") if digits else None


# A question is about the form as it is spelled: an amendment answers only a question about amendments.


def is_amendment(form):
    return form.endswith("/A")


def family(form):
    base = form[:-2] if is_amendment(form) else form
    return RENAMED.get(base, base)


def list_name(form, item):
    return family(form) + ("/A" if is_amendment(form) else ""), item


def question_of(body):
    form, item = body["form"], body["event_class"]
    is_form = re.fullmatch(r"[A-Z0-9][A-Z0-9 /.-]{0,39}", form) and not form.startswith("FORM ")
    if not is_form or form != " ".join(form.split()):
        raise Refused("form: not spelled as in questions")
    if item is not None and not (family(form) in ITEM_FORMS and re.fullmatch(r"\d{1,2}(\.\d{2})?", item, re.ASCII)):
        raise Refused("event_class: no item of this form")
    return {"form": form, "item": item, "cutoff": parse_cutoff(body["cutoff"])}


# Times are milliseconds since 1970, days are text.


def day_milliseconds(day, hour=0, minute=0, second=0, fraction=0):
    try:
        count = datetime.date.fromisoformat(day).toordinal() - datetime.date(1970, 1, 1).toordinal()
    except ValueError as error:
        raise Refused("%s is no day" % day) from error
    return count * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + fraction


def instant(text):
    """An ISO 8601 date-time with a zone; digits beyond milliseconds do not count."""
    found = INSTANT.fullmatch(text)
    if found is None:
        raise Refused("%r is no instant" % text)
    day, hour, minute, second, fraction, zone = found.groups()
    hour, minute, second = int(hour), int(minute), int(second or 0)
    is_past_end = hour == 24 and (minute or second or (fraction or "").strip(".0"))
    if minute > 59 or second > 59 or hour > 24 or is_past_end:
        raise Refused("%r is no instant" % text)
    at = day_milliseconds(day, hour, minute, second, int(((fraction or ".") + "000")[1:4]))
    if zone == "Z":
        return at
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if hours > 23 or minutes > 59:
        raise Refused("%r is no instant" % text)
    offset = (hours * 60 + minutes) * 60000
    return at + offset if zone[0] == "-" else at - offset


def iso_time(at):
    """UTC text, with milliseconds only where there are any."""
    try:
        moment = EPOCH + datetime.timedelta(milliseconds=at)
    except OverflowError as error:
        raise Refused("a time outside of the years 1 to 9999") from error
    return moment.isoformat(timespec="milliseconds" if at % 1000 else "seconds") + "Z"


def new_york_day_end(day):
    """The last second of a day in New York: the rules of 2007, and those of 1987 for all years before."""
    year, wall = int(day[:4]), day_milliseconds(day, 23, 59, 59)
    begin, end = ((3, 8), (11, 1)) if year >= 2007 else ((4, 1), (10, 25))
    summer = sunday(year, *begin) <= wall < sunday(year, *end)
    return wall + (4 if summer else 5) * 3600000


def sunday(year, month, day):
    """02:00 of the first Sunday on or after a day."""
    first = datetime.date(year, month, day)
    return day_milliseconds((first + datetime.timedelta(days=(6 - first.weekday()) % 7)).isoformat(), 2)


def parse_cutoff(text):
    """A bare date is that whole filing day, an instant is compared with the acceptance."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        return {"basis": "filing_date", "date": text, "at": iso_time(new_york_day_end(text))}
    return {"basis": "acceptance_time", "at": iso_time(instant(text))}


# The list: neighbouring filings, newest first, that lead to the root which the filer's statement names.


def settle(body):
    """The answer to the question of a body, from the filings of its list; each filing is a list of its listings."""
    question, coverage = question_of(body), body["coverage"]
    name = list_name(question["form"], question["item"])
    heads = [head for head in coverage["lists"] if (head["form"], head["event_class"]) == name]
    if (body["list"] is None) != (not heads):
        raise Refused("list: given where the filer has none of this form and item, or absent where it has one")
    if not heads and is_lookalike(question, coverage["lists"]):
        raise Refused("list: absent, but the question reads like one about another form or item")
    filings = [] if body["list"] is None else listed_filings(body["list"], heads[0], body["cik"])
    if filings:
        check_neighbours(body["list"]["index"], filings, heads[0], question)
    return dict(verdict(filings, coverage, question), question=question, coverage=coverage)


def is_lookalike(question, heads):
    """Whether a question about what is not stored reads like one about something else, as 10K does."""
    stored = [head["form"] for head in heads if head["event_class"] is None
              and (is_amendment(head["form"]) or head["count"] > head["amendments"])]
    known = [form + end for form in WELL_KNOWN for end in ("", "/A")] + stored
    form, item = question["form"], question["item"] or "1"
    is_like = form not in known and read_form(form) in [read_form(one) for one in known]
    return is_like or item.startswith("0")


def read_form(form):
    """What of a form type is read: letters and digits, O as 0, I as 1, without zeros in front of a number or of all."""
    digits = short_numbers(form.replace("O", "0").replace("I", "1"))
    return re.sub(r"^0*(?:F0RM)?0*(?=.)", "", short_numbers(re.sub(r"[ /.-]", "", digits)))


def short_numbers(text):
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def listed_filings(given, head, cik):
    """The filings of a list, which lead to its root; the hash of each listing is recomputed from its core."""
    filings, leaves = [], []
    for listings in given["filings"]:
        cores = [dict(listing["_hash_core"], record_hash=listing["record_hash"]) for listing in listings]
        if any(hash_of(listing["_hash_core"]) != listing["record_hash"] for listing in listings):
            raise Refused("list.filings: a hash core gives another hash")
        if any(core["entity"] != cik for core in cores):
            raise Refused("list.filings: of another filer")
        filings.append(cores)
        leaves.append(hashlib.sha256(b"\x00" + " ".join(core["record_hash"] for core in cores).encode()).digest())
    beside = [bytes.fromhex(digest) for digest in given["beside"]]
    if stretch_root(given["index"], head["count"], leaves, beside).hex() != head["root"]:
        raise Refused("list: leads to another root")
    return filings


def stretch_root(start, size, leaves, beside):
    """The RFC 6962 root of a tree, from some neighbouring leaves and a hash for each range beside them."""
    stop, rest = start + len(leaves), list(beside)
    if not 0 <= start < stop <= size:
        raise Refused("list: has no place in its tree")

    def fold(begin, end):
        if end <= start or begin >= stop:
            if not rest:
                raise Refused("list.beside: too few hashes")
            return rest.pop(0)
        if end - begin == 1:
            return leaves[begin - start]
        middle = begin + (1 << (end - begin - 1).bit_length() - 1)
        left, right = fold(begin, middle), fold(middle, end)
        return hashlib.sha256(b"\x01" + left + right).digest()

    root = fold(0, size)
    if rest:
        raise Refused("list.beside: too many hashes")
    return root


def check_neighbours(index, filings, head, question):
    """No filing beside those of the list can count."""
    firsts, cutoff = [listings[0] for listings in filings], question["cutoff"]
    originals = [filing for filing in firsts if is_original(filing, question)]
    before = [filing for filing in originals if side(filing, cutoff) == "before"]
    if index > 0 and not is_behind(firsts[0], head["lead_days"], cutoff):
        raise Refused("list: newer filings may count")
    is_end = index + len(filings) == head["count"]
    if not is_end and not (before and firsts[-1]["filing_date"] < before[0]["filing_date"]):
        raise Refused("list: older filings may count")
    if index > 0 and not originals:
        raise Refused("list: the first filing behind the cutoff may be another one")


def is_original(filing, question):
    return is_amendment(filing["form"]) == is_amendment(question["form"])


def is_behind(filing, lead_days, cutoff):
    """Whether this filing, and so every newer one of the list, certainly lies behind the cutoff."""
    if cutoff["basis"] == "filing_date":
        return filing["filing_date"] > cutoff["date"]
    return day_milliseconds(filing["filing_date"]) - lead_days * DAY_MS > instant(cutoff["at"])


def side(filing, cutoff):
    if cutoff["basis"] == "filing_date":
        return "before" if filing["filing_date"] <= cutoff["date"] else "after"
    at = instant(cutoff["at"])
    if filing["disclosure_time"] is not None:
        return "before" if instant(filing["disclosure_time"]) <= at else "after"
    if new_york_day_end(filing["filing_date"]) <= at:
        return "before"
    return "after" if at < day_milliseconds(filing["filing_date"]) - LEAD_DAYS * DAY_MS else "unclear"


# The rule: the newest original at or before the cutoff, else the first one behind it.


def verdict(filings, coverage, question):
    cutoff = question["cutoff"]
    twins = {listings[0]["accession"]: listings[1:] for listings in filings}
    firsts = [(listings[0], side(listings[0], cutoff)) for listings in filings]
    originals = [(filing, on) for filing, on in firsts if is_original(filing, question)]
    before = [filing for filing, on in originals if on == "before"]
    unclear = [filing for filing, on in originals if on == "unclear"]
    amendments = [filing for filing, on in firsts if on != "after" and not is_original(filing, question)]
    if before:
        day = before[0]["filing_date"]
        beside = [filing for filing in before[1:] if filing["filing_date"] == day]
        beside += [filing for filing in unclear + amendments if filing["filing_date"] >= day]
        return decided(before[0], twins, beside, True, "ambiguous" if beside else "resolved")
    if unclear or amendments:
        every = unclear + amendments
        return decided(every[0], twins, every[1:], None, "ambiguous")
    hidden = any(reaches_back(gap, cutoff) for gap in coverage["gaps"])
    filed = False if coverage["covered_from"] is None and not hidden and not is_beyond(cutoff, coverage) else None
    later = [filing for filing, on in originals if on == "after"]
    if filed is None or not later:
        return {"status": "no_authoritative_source", "filed": filed, "selected": None, "candidates": []}
    return decided(later[-1], twins, [], filed, "resolved")


def decided(selected, twins, beside, filed, status):
    """A verdict about a filing, unless its sources tell different facts."""
    others = twins[selected["accession"]]
    if not all(agree(selected, other) for other in others):
        return {"status": "conflicting", "filed": None, "selected": selected, "candidates": [selected] + others}
    return {"status": status, "filed": filed, "selected": selected, "candidates": [selected] + others + beside}


def agree(a, b):
    times = set(instant(one["disclosure_time"]) for one in (a, b) if one["disclosure_time"] is not None)
    events = set(one["event_time"] for one in (a, b) if one["event_time"] is not None)
    return (list_name(a["form"], None), a["filing_date"]) == (list_name(b["form"], None), b["filing_date"]) \
        and len(times) < 2 and len(events) < 2


def reaches_back(gap, cutoff):
    if cutoff["basis"] == "filing_date":
        return gap["from"] <= cutoff["date"]
    return day_milliseconds(gap["from"]) - LEAD_DAYS * DAY_MS <= instant(cutoff["at"])


def is_beyond(cutoff, coverage):
    return instant(coverage["observed_at"]) < instant(cutoff["at"])


# What an answer says in members of its own.


def resolve_members(settled):
    selected = settled["selected"] or {}
    return {"resolution_status": settled["status"], "filed_by_cutoff": settled["filed"],
            "event_time": selected.get("event_time"), "disclosure_time": selected.get("disclosure_time"),
            "disclosure_date": selected.get("filing_date"), "note": note_of(settled),
            "candidate_count": len(settled["candidates"])}


def proposer_members(settled):
    selected = settled["selected"] or {}
    certain = settled["status"] == "resolved" and settled["filed"] is not None
    return {"answer": settled["filed"], "confidence": 1 if certain else 0, "timestamp": selected.get("disclosure_time"),
            "evidence_url": selected.get("source_ref"), "source_tier": selected.get("source_tier"),
            "note": note_of(settled)}


def note_of(settled):
    return " ".join(verdict_words(settled) + limit_words(settled))


def verdict_words(settled):
    question, selected, candidates = settled["question"], settled["selected"], settled["candidates"]
    if selected is None:
        return [nothing(settled)]
    if settled["status"] == "conflicting":
        return ["The %d listings of filing %s do not tell the same facts, so nothing is settled."
                % (len(candidates), selected["accession"])]
    if settled["status"] == "ambiguous":
        return beside_others(settled) if settled["filed"] else unsettled(settled)
    if settled["filed"]:
        return [newest(question, selected)]
    return [nothing(settled), "The first filing day of one after that is %s, of %s %s."
            % (selected["filing_date"], selected["form"], selected["accession"])]


def limit(question):
    cutoff = question["cutoff"]
    return "the filing day " + cutoff["date"] if cutoff["basis"] == "filing_date" else "the instant " + cutoff["at"]


def kind(question):
    return "form %s" % question["form"] + ("" if question["item"] is None else " with item %s" % question["item"])


def named(filing):
    return "%s %s of the filing day %s" % (filing["form"], filing["accession"], filing["filing_date"])


def nothing(settled):
    held = "The stored list holds no %s until %s" % (kind(settled["question"]), limit(settled["question"]))
    if settled["filed"] is None:
        return held + ", which does not mean that none was filed."
    return "%s; it is whole until then and was collected at %s." % (held, settled["coverage"]["observed_at"])


def newest(question, selected):
    return "By filing day, the newest %s that the stored list holds until %s is %s." \
        % (kind(question), limit(question), named(selected))


def counts_of(candidates, question):
    """How many originals, how many of them of an unknown hour, and how many amendments; each filing once."""
    firsts = list(dict((filing["accession"], filing) for filing in reversed(candidates)).values())
    originals = [filing for filing in firsts if is_original(filing, question)]
    unclear = sum(side(filing, question["cutoff"]) == "unclear" for filing in originals)
    return len(originals) - unclear, unclear, len(firsts) - len(originals)


def amendment_words(question):
    return "Amendments" if question["item"] is None else "Amendments with item %s" % question["item"]


def beside_others(settled):
    question, selected = settled["question"], settled["selected"]
    others = [filing for filing in settled["candidates"] if filing["accession"] != selected["accession"]]
    same_day, unclear, amendments = counts_of(others, question)
    words = [newest(question, selected) if same_day == 0 else
             "The stored list holds %d filings of %s of the newest filing day until %s; one of them is %s."
             % (same_day + 1, kind(question), limit(question), named(selected))]
    if unclear:
        words.append("That does not count %d of its filing day or a later one of which the hour is not known, so that "
                     "they may lie on either side of the cutoff." % unclear)
    if amendments:
        words.append("%s of its filing day or a later one that lie before the cutoff or may do so: %d."
                     % (amendment_words(question), amendments))
    return words


def unsettled(settled):
    question = settled["question"]
    _, unclear, amendments = counts_of(settled["candidates"], question)
    words = ["The stored list holds no %s that certainly lies before %s or on it." % (kind(question), limit(question))]
    if unclear:
        words.append("Filings of it of which the hour is not known, so that they may lie on either side of the "
                     "cutoff: %d." % unclear)
    if amendments:
        words.append("%s that lie before the cutoff or may do so: %d." % (amendment_words(question), amendments))
    return words + ["One of these is %s." % named(settled["selected"])]


def limit_words(settled):
    question, coverage, selected = settled["question"], settled["coverage"], settled["selected"] or {"filing_date": ""}
    cutoff, words = question["cutoff"], []
    if is_beyond(cutoff, coverage):
        end = "the end of " + limit(question) if cutoff["basis"] == "filing_date" else limit(question)
        words.append("The list was collected at %s, before %s, and does not tell what was filed later."
                     % (coverage["observed_at"], end))
    if coverage["covered_from"] is not None and selected["filing_date"] < coverage["covered_from"]:
        words.append("The list reaches back to the filing day %s; older filings are not all stored."
                     % coverage["covered_from"])
    return words + ["The list is incomplete from the filing day %s to %s." % (gap["from"], gap["to"])
                    for gap in coverage["gaps"] if reaches_back(gap, cutoff)]
