"""Record hashes: which members of a record or a row are hashed, and what is recomputed: FORMAT.md, section 3."""

from verify_json import HASH, Refused, hash_of, is_number, is_same, objects, told

CORE = ("hash_core_version", "signal_id", "entity", "snapshot_date", "observed_at", "current", "source_ref",
        "source_tier", "sources", "lifecycle")
SOURCE_CORE = ("name", "weight", "independent", "relay_of")
CAPTURED = ("capture_date", "observed_at")
SOURCED = ("source_ref", "source_tier")
DEMAND = ("calls_30d", "unique_payers_30d", "demand_class", "demand_depth", "endpoints", "endpoints_by_class",
          "last_called_at")
ROSTER_CORES = {
    "trust.service": ("service_id",) + CAPTURED + ("model", "domain", "first_endpoint", "score_total", "liveness_state",
                                                   "liveness_streak", "baseline_delta") + SOURCED,
    "mcp.server": ("server_id",) + CAPTURED + ("status",) + SOURCED,
    "stable.coin": ("coin_id",) + CAPTURED + ("symbol", "current") + SOURCED,
    "stablecoin.death": ("confirmed_dead_at", "symbol", "death_type", "pre_death_observed_at", "first_distress_at",
                         "lifespan_days", "pre_death_payload", "death_context") + SOURCED,
    "document": ("operation", "params", "title", "text", "rows", "observed_at") + SOURCED,
}


def core_of(record):
    """The hash core of an object, or None where the object does not carry one."""
    if "_hash_core" in record:
        return given_core(record, record["_hash_core"])
    roster = roster_core(record)
    if roster is not None:
        return roster
    version = record.get("hash_core_version")
    if version is None and not all(name in record for name in CORE[1:]):
        return None
    if "hash_core_version" in record and not is_version(version):
        raise Refused("hash core version %r is unknown" % version)
    missing = [name for name in CORE[1:] if name not in record]
    if missing:
        raise Refused("%s is missing" % missing[0])
    core = {name: record[name] for name in CORE[1:]}
    core["hash_core_version"] = 3
    if core["sources"] is not None:
        if not isinstance(core["sources"], list) or not all(isinstance(source, dict) for source in core["sources"]):
            raise Refused("sources: not a list of objects")
        core["sources"] = [{name: source[name] for name in SOURCE_CORE if name in source} for source in core["sources"]]
    return core


def is_version(version):
    return is_number(version) and version == 3


def given_core(row, core):
    """A core that is delivered beside its row: about that row, and of a known version."""
    if not isinstance(core, dict) or not is_version(core.get("hash_core_version")):
        raise Refused("_hash_core: not an object of version 3")
    for name in core:
        if name in row and name != "hash_core_version" and differs(row[name], core[name]):
            raise Refused("_hash_core.%s: differs from the row" % name)
    subjects = [core[name] for name in ("service_id", "server_id", "coin_id") if core.get(name) is not None]
    name = "service" if row.get("entity") is None else "entity"
    if subjects and name in row and not is_same(subjects[0], row[name]):
        raise Refused("_hash_core: about another subject than the row")
    return core


def differs(shown, hashed):
    """Plain values are the same; of two that are not plain, or of one, only being null is compared."""
    plain = not any(one is None or isinstance(one, (dict, list)) for one in (shown, hashed))
    return not is_same(shown, hashed) if plain else (shown is None) != (hashed is None)


def roster_core(row):
    """The core of a roster row that carries all members of one, or None."""
    for fields in ROSTER_CORES.values():
        if fields[0] == "service_id" and row.get("model") == "demand-v1":
            fields += DEMAND
        if all(name in row for name in fields):
            return dict([("hash_core_version", 3)] + [(name, row[name]) for name in fields])
    return None


def check_record_hashes(body):
    """Recomputes what can be recomputed; answers how many."""
    return sum(check_record_hash(path, item) for path, item in objects(body))


def check_record_hash(path, item):
    """Whether the record hash of one object could be recomputed, which it then is."""
    claimed = item.get("record_hash")
    if claimed is None:
        if is_number(item.get("hash_core_version")):
            raise Refused("%s: missing beside its core version" % told(path, "record_hash"))
        return False
    if not isinstance(claimed, str) or not HASH.fullmatch(claimed):
        raise Refused("%s: not a record hash" % told(path, "record_hash"))
    core = core_of(item)
    if core is not None and hash_of(core) != claimed:
        raise Refused("%s: the hash core gives another hash" % told(path, "record_hash"))
    return core is not None
