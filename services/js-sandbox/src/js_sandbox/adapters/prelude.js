// Runs in every fresh context before the program does. It captures the intrinsics it needs, so that whatever the program
// changes afterwards, showing its result and its console does not change; and it takes away what has no use here.
//
// Rules for this file: after start-up only captured functions are called, `for…of`, spread and destructuring of arrays
// are avoided (they look up Symbol.iterator, which a program may have replaced), and lists are linked nodes without a
// prototype (an index assignment to an array would find a setter placed on Array.prototype).
//
// The value of the script is [console buffer, begin, beginPromise, step]; no program can reach them.
(consoleCharacters => {
  'use strict';

  const bound = Function.prototype.bind.bind(Function.prototype.call);
  const charCodeAt = bound(String.prototype.charCodeAt);
  const slice = bound(String.prototype.slice);
  const indexOf = bound(String.prototype.indexOf);
  const forEachOfMap = bound(Map.prototype.forEach);
  const forEachOfSet = bound(Set.prototype.forEach);
  const sizeOfMap = bound(Object.getOwnPropertyDescriptor(Map.prototype, 'size').get);
  const sizeOfSet = bound(Object.getOwnPropertyDescriptor(Set.prototype, 'size').get);
  const tagOf = bound(Object.prototype.toString);
  const { apply } = Reflect;
  const { stringify } = JSON;
  const { isError = value => value instanceof NativeError } = Error;
  const { max, trunc } = Math;
  const { now } = Date;
  const { is } = Object;
  const NativeError = Error;
  const NativeString = String;
  const NativeNumber = Number;
  const NativeTypeError = TypeError;
  const parseDecimal = parseFloat;

  // WebAssembly would be another compiler and another kind of memory. SharedArrayBuffer is off by a flag; without it
  // Atomics has nothing to do.
  delete globalThis.WebAssembly;
  delete globalThis.Atomics;

  // --- the console: UTF-16 code units in a buffer that is read from outside even while a program hangs ---
  const buffer = new ArrayBuffer(8 + 2 * consoleCharacters);
  const header = new Int32Array(buffer, 0, 2); // units written; 1 when something was left out
  const units = new Uint16Array(buffer, 8);
  let written = 0;

  const write = text => {
    const end = text.length;
    for (let i = 0; i < end; i++) {
      if (written >= consoleCharacters) {
        header[1] = 1;
        break;
      }
      units[written++] = charCodeAt(text, i);
    }
    header[0] = written;
  };

  const nameOf = fn => `[Function: ${typeof fn.name === 'string' && fn.name !== '' ? fn.name : '(anonymous)'}]`;

  const showInJson = (_key, value) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'function') return nameOf(value);
    if (typeof value === 'symbol') return NativeString(value);
    return value;
  };

  const showObject = value => {
    if (isError(value)) return typeof value.stack === 'string' ? value.stack : NativeString(value);
    let size = sizeOrNone(sizeOfMap, value);
    let inside = '';
    if (size !== undefined) {
      forEachOfMap(value, (item, key) => { inside += `${inside && ', '}${showNested(key)} => ${showNested(item)}`; });
      return `Map(${size}) {${inside}}`;
    }
    size = sizeOrNone(sizeOfSet, value);
    if (size !== undefined) {
      forEachOfSet(value, item => { inside += `${inside && ', '}${showNested(item)}`; });
      return `Set(${size}) {${inside}}`;
    }
    const text = stringify(value, showInJson);
    return text === undefined ? tagOf(value) : text;
  };

  const sizeOrNone = (size, value) => {
    try { return size(value); } catch { return undefined; }
  };

  const show = value => {
    switch (typeof value) {
      case 'string': return value;
      case 'number': return is(value, -0) ? '-0' : `${value}`;
      case 'bigint': return `${value}n`;
      case 'symbol': return NativeString(value);
      case 'function': return nameOf(value);
      case 'object':
        if (value === null) return 'null';
        try { return showObject(value); } catch { return tagOf(value); }
      default: return `${value}`;
    }
  };

  const showNested = value => (typeof value === 'string' ? stringify(value) : show(value));

  const showAs = (directive, value) => {
    switch (directive) {
      case 's': return show(value);
      case 'd': return typeof value === 'bigint' ? `${value}n` : `${typeof value === 'symbol' ? NaN : NativeNumber(value)}`;
      case 'i': return typeof value === 'bigint' ? `${value}n` : `${trunc(parseDecimal(show(value)))}`;
      case 'f': return `${parseDecimal(show(value))}`;
      case 'c': return '';
      default: return showNested(value); // j, o, O
    }
  };

  const format = args => {
    let text = '';
    let next = 0;
    if (args.length > 1 && typeof args[0] === 'string') {
      const pattern = args[0];
      next = 1;
      let from = 0;
      for (let at = indexOf(pattern, '%'); at !== -1; at = indexOf(pattern, '%', from)) {
        const directive = pattern[at + 1];
        text += slice(pattern, from, at);
        if (directive === '%') {
          text += '%';
        } else if (directive !== undefined && indexOf('sdifcjoO', directive) !== -1 && next < args.length) {
          text += showAs(directive, args[next++]);
        } else {
          text += '%';
          from = at + 1;
          continue;
        }
        from = at + 2;
      }
      text += slice(pattern, from);
      if (next < args.length) text += ' ';
    }
    for (let i = next; i < args.length; i++) text += (i > next ? ' ' : '') + show(args[i]);
    return text;
  };

  // A console must not throw into the program that uses it.
  const log = (...args) => {
    let text;
    try { text = format(args); } catch { text = '[cannot be shown]'; }
    write(text);
    write('\n');
  };
  const { console } = globalThis;
  console.log = console.info = console.warn = console.error = console.debug = console.trace = log;
  console.dir = value => log(value);
  console.table = value => log(value);
  console.assert = (condition, ...args) => {
    if (!condition) log(`Assertion failed${args.length ? ':' : ''}`, args.length ? format(args) : '');
  };

  // --- timers: a list sorted by due time, fired one at a time by `step` ---
  const node = (id, due, every, call, args) => ({ __proto__: null, id, due, every, call, args, next: null });
  const first = node(0, 0, 0, null, null);
  let lastId = 0;

  const insert = timer => {
    let before = first;
    while (before.next !== null && before.next.due <= timer.due) before = before.next;
    timer.next = before.next;
    before.next = timer;
  };

  const schedule = (call, delay, repeat, args) => {
    if (typeof call !== 'function') throw new NativeTypeError('The first argument of a timer must be a function.');
    const wait = max(1, NativeNumber(delay) || 0);
    insert(node(++lastId, now() + wait, repeat ? wait : 0, call, args));
    return lastId;
  };

  const cancel = id => {
    for (let before = first; before.next !== null; before = before.next) {
      if (before.next.id === id) {
        before.next = before.next.next;
        return;
      }
    }
  };

  globalThis.setTimeout = (call, delay, ...args) => schedule(call, delay, false, args);
  globalThis.setInterval = (call, delay, ...args) => schedule(call, delay, true, args);
  globalThis.clearTimeout = globalThis.clearInterval = cancel;

  const fire = timer => {
    first.next = timer.next;
    if (timer.every > 0) {
      timer.due = now() + timer.every;
      insert(timer);
    }
    apply(timer.call, undefined, timer.args);
  };

  // --- the end of a program ---
  let settled = true;
  let rejected = false;
  let last;

  // `await` of a promise calls nothing the program can replace but its own `constructor` getter.
  const settle = async promise => {
    settled = false;
    try {
      last = await promise;
    } catch (reason) {
      last = reason;
      rejected = true;
    }
    settled = true;
  };

  // The program's value comes as `this`, which in strict mode is passed as it is.
  function begin() { last = this; }
  function beginPromise() { settle(this); }

  // One step towards the end: a number is how many milliseconds to wait before the next step, a string or undefined
  // is the JSON text of the program's last value. Whatever the program throws on the way is thrown.
  const step = () => {
    const timer = first.next;
    if (timer !== null && timer.due <= now()) {
      fire(timer);
      return 0;
    }
    if (rejected) throw last;
    if (timer !== null) return timer.due - now();
    if (!settled) throw new NativeError('The promise is never settled: nothing is left to run that could settle it.');
    if (typeof last === 'function') throw new NativeTypeError('The last value is a function, which JSON cannot hold.');
    if (typeof last === 'symbol') throw new NativeTypeError('The last value is a symbol, which JSON cannot hold.');
    if (typeof last === 'bigint') {
      throw new NativeTypeError('The last value is a BigInt, which JSON cannot hold: end the program with String(value).');
    }
    return stringify(last);
  };

  return [buffer, begin, beginPromise, step];
})(CONSOLE_CHARACTERS)
//# sourceURL=switchbox:prelude
