"""A series: its rows lead to the signed end of a chain (FORMAT.md, section 6), also as a signed table (SERIES-CSV.md)."""

import datetime
import re

from verify_core import CORE, core_of
from verify_json import Refused, hash_of, is_number, is_same, iso, number, parse, time_of

SERIES_CUT = ("days", "count", "before", "rows", "cuts", "origins", "segments")
SERIES_COLUMNS = ("snapshot_date", "observed_at", "data_age_hours", "current", "band", "record_hash")
CORE_COLUMNS = SERIES_COLUMNS + ("_hash_core",)
CORE_ORIGIN = ("source_ref", "source_tier", "sources", "lifecycle")
SERIES_DAYS_MAX = 1000
CHAIN_ORIGIN = {"rows": 0, "snapshot_date": None, "chain": "sha256:" + "0" * 64}


def chain_states(before, rows):
    """The states behind each row of a series."""
    states = []
    for row in rows:
        chain = hash_of([before, bare_row(row)])
        before = {"rows": before["rows"] + 1, "snapshot_date": row["snapshot_date"], "chain": chain}
        states.append(before)
    return states


def is_series(body):
    return body.get("tier") == "history-series"


def check_series(body):
    """The rows lead from the state before them to the signed end of the chain, and reach back far enough."""
    if not is_series(body) or "retained" not in body:
        return
    if body.get("segments", []) != []:
        raise Refused("rows: more of them stand in segments")
    rows, before, retained = body.get("rows"), body.get("before"), body["retained"]
    if not isinstance(rows, list) or not rows or any(not is_row(row) for row in rows):
        raise Refused("rows: not rows of exactly the columns of a series")
    check_state(before)
    states = chain_states(before, rows)
    end = states[-1]
    if not isinstance(retained, dict) or (end["rows"], end["chain"]) != (retained.get("rows"), retained.get("chain")):
        raise Refused("rows: do not lead to the signed end of the chain")
    if not is_same(body.get("count"), len(rows)):
        raise Refused("count: not that of the rows")
    check_reach(body, before, rows)
    if "cuts" in body and not is_same(body["cuts"], cuts_of(before, rows, states)):
        raise Refused("cuts: do not fit the rows")
    check_cores(body, rows)
    if "origins" in body:
        check_origins(body, rows)


def is_row(row):
    return isinstance(row, dict) and set(bare_row(row)) == set(SERIES_COLUMNS)


def bare_row(row):
    """A row as the chain hashes it."""
    return {name: row[name] for name in row if name != "_hash_core"}


def check_cores(body, rows):
    """With verifiable=1 each row has its whole hash core; its hash is compared where that of every core is."""
    given = [row for row in rows if "_hash_core" in row]
    if given and len(given) < len(rows):
        raise Refused("rows: some lack their _hash_core")
    for row in given:
        core = row["_hash_core"]
        if not isinstance(core, dict) or not is_same(core, row_core(body, row, core)):
            raise Refused("_hash_core: not that of its row")


def check_origins(body, rows):
    """The stored form has what rows lack of their cores once for all rows in sequence that share it."""
    at = 0
    for run in body["origins"] if isinstance(body["origins"], list) else [None]:
        is_run = isinstance(run, list) and len(run) == 2 and is_number(run[0]) and isinstance(run[1], dict)
        if not is_run or run[0] != int(run[0]) or not 0 < run[0] <= len(rows) - at:
            raise Refused("origins: not runs of the rows")
        for row in rows[at:at + int(run[0])]:
            if hash_of(row_core(body, row, run[1])) != row["record_hash"]:
                raise Refused("origins: do not give the record hash of a row")
        at += int(run[0])
    if at != len(rows):
        raise Refused("origins: not those of all rows")


def row_core(body, row, origin):
    """The hash core of a row: its subject, what it says, and what it lacks."""
    fact = {"signal_id": body.get("signal_id"), "entity": body.get("entity")}
    fact.update({name: row[name] for name in ("snapshot_date", "observed_at", "current")})
    fact.update({name: origin[name] for name in CORE_ORIGIN if name in origin})
    missing = [name for name in CORE[1:] if name not in fact]
    if missing:
        raise Refused("%s is missing" % missing[0])
    return core_of(dict(fact, hash_core_version=3))


def check_state(before):
    if not isinstance(before, dict) or set(before) != set(CHAIN_ORIGIN) or not is_number(before["rows"]):
        raise Refused("before: no state of a chain")
    inside = before["rows"] > 0 and isinstance(before["snapshot_date"], str)
    if before != CHAIN_ORIGIN and not inside:
        raise Refused("before: no state of a chain")


def check_reach(body, before, rows):
    """A first row that is not there would have stood inside of days: the state before tells its date.

    Where older rows of that date are not delivered at all, the signature says so.
    """
    days, newest = body.get("days"), time_of(body["retained"].get("to"))
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= SERIES_DAYS_MAX or newest is None:
        raise Refused("days: not 1 to %d" % SERIES_DAYS_MAX)
    start = iso(newest - datetime.timedelta(days=days - 1))
    if str(rows[0]["snapshot_date"]) < start:
        raise Refused("rows: one is older than %d days" % days)
    is_signed = body["retained"].get("older_chain") == before["chain"]
    if before["snapshot_date"] is not None and before["snapshot_date"] >= start and not is_signed:
        raise Refused("rows: some of the last %d days are missing" % days)


def cuts_of(before, rows, states):
    """Where a stored series can be cut: its first row and each date that begins, with the state before it."""
    cuts = []
    for state, row in zip([before] + states, rows):
        if not cuts or row["snapshot_date"] != state["snapshot_date"]:
            cuts.append([row["snapshot_date"], state["rows"], state["chain"]])
    return cuts


# ---- a series as CSV with its signature: compiler/contract/SERIES-CSV.md ------------------------------------------

CSV_ROWS_MAX = 25000
CSV_CELL = re.compile(r'("[^"]*(?:""[^"]*)*"|[^",\r\n]*)(,|\r\n)')
# What a spreadsheet would run as a formula has one apostrophe more in front.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def series_of_csv(data):
    """The JSON answer in the first line, with the rows of the table behind it."""
    head, end, table = data.partition(b"\r\n")
    # JSON may hold a bare CR or LF between its words, where other readers of CSV would end the line.
    if b"\r" in head or b"\n" in head:
        raise Refused("the first line has a line end inside")
    body = parse(head[2:])
    if not end or not isinstance(body, dict) or body.get("rows") != []:
        raise Refused("the first line is not the answer of a series without its rows")
    try:
        lines = csv_lines(table.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refused("not UTF-8: %s" % error) from error
    columns = next(lines, None)
    if columns not in (list(SERIES_COLUMNS), list(CORE_COLUMNS)):
        raise Refused("the second line is not the columns of a series")
    rows = []
    for cells in lines:
        if len(rows) == CSV_ROWS_MAX or len(cells) != len(columns):
            raise Refused("rows: too many, or not of the columns of a series")
        rows.append(row_of(dict(zip(columns, cells))))
    return dict(body, rows=rows)


def csv_lines(text):
    """The cells of each line, which have one spelling, so that no other reader finds other cells in it."""
    cells, begin, at = [], 0, 0
    while at < len(text):
        found = CSV_CELL.match(text, at)
        if found is None:
            raise Refused("not CSV at character %d" % at)
        at = found.end()
        cells.append(plain_text(found.group(1)))
        if found.group(2) == "\r\n":
            if ",".join(cell_text(cell) for cell in cells) + "\r\n" != text[begin:at]:
                raise Refused("the line at character %d has cells in another spelling" % begin)
            yield cells
            cells, begin = [], at
    if cells:
        raise Refused("the last line has no end")


def plain_text(cell):
    text = cell[1:-1].replace('""', '"') if cell.startswith('"') else cell
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def cell_text(text):
    shown = "'" + text if FORMULA.match(text) else text
    return '"%s"' % shown.replace('"', '""') if re.search(r'[",\r\n]', shown) else shown


def row_of(cells):
    age = parse(cells["data_age_hours"].encode("utf-8"))
    if not is_number(age) or number(age) != cells["data_age_hours"]:
        raise Refused("data_age_hours: not a number in its one spelling")
    current = parse(cells["current"].encode("utf-8"))
    row = dict(cells, data_age_hours=age, current=current, band=None if cells["band"] == "" else cells["band"])
    return dict(row, _hash_core=parse(cells["_hash_core"].encode("utf-8"))) if "_hash_core" in cells else row
