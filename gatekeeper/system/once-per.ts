/**
 * Works something out once for an object that is asked about several times in a row. Only the last object is remembered:
 * a weak map of them all costs every request some microseconds, and the collector as much again.
 */
export function oncePer<Of extends object, Value>(make: (of: Of) => Value): (of: Of) => Value {
  let last: { readonly of: Of; readonly value: Value } | null = null;
  return (of) => {
    if (last?.of !== of) last = { of, value: make(of) };
    return last.value;
  };
}

/** Works something out once for each object, for as long as that is there. */
export function onceForEach<Of extends object, Value>(make: (of: Of) => Value): (of: Of) => Value {
  const made = new WeakMap<Of, { readonly value: Value }>();
  return (of) => {
    const known = made.get(of);
    if (known !== undefined) return known.value;
    const value = make(of);
    made.set(of, { value });
    return value;
  };
}
