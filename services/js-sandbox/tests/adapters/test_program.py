"""Programs in real children: values, exceptions, console, timers, limits."""

import json
import time

import pytest
from js_pool import Programs

from contracts import errors
from contracts.javascript import MAX_RESULT_CHARACTERS

VALUES = [
    # JSON as ECMAScript writes it
    ("1+1", "2"),
    ("[1,2,3].map(x=>x*2)", "[2,4,6]"),
    ("({a:[{b:null}]})", '{"a":[{"b":null}]}'),
    ("'é😀'", '"é😀"'),
    ("1e21", "1e+21"),
    ("1e16", "10000000000000000"),
    ("-0", "0"),
    ("NaN", "null"),
    ("true", "true"),
    ("null", "null"),
    ("new Date(0)", '"1970-01-01T00:00:00.000Z"'),
    ("new Date(NaN)", "null"),
    ("new Uint8Array(2)", '{"0":0,"1":0}'),
    ("/a/", "{}"),
    ("({toJSON(){return 5}})", "5"),
    # no value
    ("undefined", None),
    ("let x = 1", None),
    ("function f(){}", None),
    ("({toJSON(){}})", None),
    # well-formed whatever the string holds
    ("'\\ud800'", '"\\ud800"'),
    ("['\\udc00']", '["\\udc00"]'),
    ("'\\u0000\"\\\\'", '"\\u0000\\"\\\\"'),
    # promises and timers
    ("Promise.resolve(7)", "7"),
    ("(async()=>{await null; return {a:1}})()", '{"a":1}'),
    ("new Promise(r=>setTimeout(r,10,'t'))", '"t"'),
    ("const o=[];setTimeout(()=>o.push(1),5);o", "[1]"),
    ("const o=[];setTimeout(()=>o.push(2),9);setTimeout(()=>o.push(1),5);clearTimeout(setTimeout(()=>o.push(3),1));o", "[1,2]"),
    ("const o=[];const t=setInterval(()=>{o.push(1);if(o.length>2)clearInterval(t)},1);o", "[1,1,1]"),
    ("const o=[];setTimeout(()=>o.push('timer'),1);Promise.resolve().then(()=>o.push('microtask'));o", '["microtask","timer"]'),
    # nothing of the host, nothing that compiles text, nothing that waits
    ("typeof process+typeof require+typeof fetch+typeof Deno+typeof Buffer", '"' + "undefined" * 5 + '"'),
    ("typeof WebAssembly+typeof SharedArrayBuffer+typeof Atomics", '"' + "undefined" * 3 + '"'),
    ("Object.getOwnPropertyNames(globalThis).filter(n=>/prelude|switchbox|__/i.test(n))", "[]"),
    ("new Date(2026, 0, 1).getTimezoneOffset()", "0"),
    # showing the result does not depend on what the program left of the built-ins
    ("JSON.stringify=null;Array.prototype.push=null;String.prototype.charCodeAt=null;[1]", "[1]"),
    ("Object.defineProperty(Array.prototype,'0',{set(){throw 1}});[...'ab'].length", "2"),
]


@pytest.mark.parametrize(("code", "value"), VALUES)
def test_the_last_value_is_shown_as_json(programs: Programs, code: str, value: str | None) -> None:
    result = programs.run(code)
    assert (result.outcome, result.value) == ("ok", value), result


EXCEPTIONS = [
    ("throw new TypeError('boom')", "TypeError: boom\n    at line 1:7"),
    ("function f(){\n throw new Error('x')}\nf()", "Error: x\n    at f (line 2:8)\n    at line 3:1"),
    ("throw null", "null (line 1)"),
    ("1+", "SyntaxError: Unexpected end of input (line 1)"),
    ("import fs from 'fs'; 1", "SyntaxError: Cannot use import statement outside a module (line 1)"),
    ("Promise.reject(new RangeError('r'))", "RangeError: r"),
    ("Promise.reject(5)", "5"),
    ("setTimeout(()=>{throw new Error('late')},1); 1", "Error: late"),
    ("import('fs')", "Not supported"),
    ("new Promise(()=>{})", "never settled"),
    ("10n", "BigInt"),
    ("Promise.resolve(10n)", "BigInt"),
    ("[10n]", "BigInt"),
    ("(()=>1)", "function"),
    ("Symbol('x')", "symbol"),
    ("const a={};a.a=a;a", "circular"),
    ("({get a(){throw new Error('getter')}})", "getter"),
    ("(function f(){f()})()", "Maximum call stack"),
    ("let s='x';for(;;)s+=s", "Invalid string length"),
    ("Error.prepareStackTrace=()=>{throw 1};null.x", "Cannot read properties of null"),
    ("Error.prepareStackTrace=()=>42;null.x", "Cannot read properties of null"),
    (
        "Error.prepareStackTrace=(e,f)=>f.map(x=>x.getThis());new Error().stack.every(x=>!x||x===globalThis)?0:(()=>{throw new Error('host')})();null.x",
        "null",
    ),
]


@pytest.mark.parametrize(("code", "detail"), EXCEPTIONS)
def test_what_is_thrown_is_told(programs: Programs, code: str, detail: str) -> None:
    result = programs.run(code)
    assert result.outcome == "exception", result
    assert result.refusal is not None
    assert result.refusal.code == errors.JS_EXCEPTION
    assert detail in result.refusal.detail


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')",
        "(0,eval)('1')",
        "Function('return 1')()",
        "new Function('return 1')",
        "(async()=>{}).constructor('return 1')()",
        "(function*(){}).constructor('yield 1')",
        "Reflect.construct(Object.getPrototypeOf(async function*(){}).constructor,['yield 1'])",
        "(async()=>eval('1'))()",
        "setTimeout(()=>eval('1'),1)",
    ],
)
def test_code_from_text_is_forbidden(programs: Programs, code: str) -> None:
    assert (programs.run(code)).outcome == "forbidden"


def test_text_for_a_timer_is_not_run(programs: Programs) -> None:
    assert (programs.run("setTimeout('globalThis.x=1',1)")).outcome == "exception"


CONSOLE = [
    ("console.log('a',1,null,undefined,-0,true)", "a 1 null undefined -0 true\n"),
    ("console.info('i');console.warn('w');console.error('e');console.debug('d')", "i\nw\ne\nd\n"),
    (
        "console.log('%s is %d%% of %j, %i %f %c%o',1,2,{a:1},3.7,1.5,'color: red',[1],'rest')",
        '1 is 2% of {"a":1}, 3 1.5 [1] rest\n',
    ),
    ("console.log('%s')", "%s\n"),
    ("console.log('100%', 1)", "100% 1\n"),
    ("console.log('%q %', 1)", "%q % 1\n"),
    (
        "console.log({a:[1,2n]},new Map([[{k:1},'v']]),new Set(['x']),()=>1,Symbol('q'))",
        '{"a":[1,"2n"]} Map(1) {{"k":1} => "v"} Set(1) {"x"} [Function: (anonymous)] Symbol(q)\n',
    ),
    ("const a={};a.a=a;console.log(a)", "[object Object]\n"),
    ("console.log({toString(){throw 1},toJSON(){throw 1}}, Object.create(null))", "[object Object] {}\n"),
    ("console.log('%d', {valueOf(){throw 1}})", "[cannot be shown]\n"),
    ("console.assert(true,'no');console.assert(false,'yes')", "Assertion failed: yes\n"),
    ("console.log()", "\n"),
    ("console.log('\\ud800')", "\N{REPLACEMENT CHARACTER}\n"),
    (
        "String.prototype.charCodeAt=()=>65;Function.prototype.call=null;Array.prototype[Symbol.iterator]=null;console.log('b')",
        "b\n",
    ),
]


@pytest.mark.parametrize(("code", "console"), CONSOLE)
def test_the_console_is_captured(programs: Programs, code: str, console: str) -> None:
    result = programs.run(code + ";0")
    assert (result.outcome, result.console) == ("ok", console), result


def test_an_error_on_the_console_shows_its_stack(programs: Programs) -> None:
    assert (programs.run("console.log(new Error('x'))")).console.startswith("Error: x\n    at ")


def test_a_long_value_and_a_long_console_are_cut(programs: Programs) -> None:
    exact = programs.run(f"'x'.repeat({MAX_RESULT_CHARACTERS - 2})")
    assert (len(exact.value or ""), exact.truncated) == (MAX_RESULT_CHARACTERS, False)
    assert len(json.loads(exact.value or "")) == MAX_RESULT_CHARACTERS - 2
    for code in (f"'x'.repeat({MAX_RESULT_CHARACTERS - 1})", "'é😀'.repeat(1e6)", "['x'.repeat(2e6)]", "'x'.repeat(5e7)"):
        long = programs.run(code)
        assert (long.outcome, len(long.value or ""), long.truncated) == ("ok", MAX_RESULT_CHARACTERS, True), code
    console = programs.run("for(let i=0;i<1e5;i++)console.log('line');1")
    assert (console.value, len(console.console), console.truncated) == ("1", MAX_RESULT_CHARACTERS, True)


def test_a_program_of_the_longest_length_runs(programs: Programs) -> None:
    filler = "\x01" * 199_996
    assert (programs.run(f"'{filler}';1")).value == "1"
    broken = programs.refusal("/*" + "é" * 199_990 + "*/ x x")
    assert broken.detail == "SyntaxError: Unexpected identifier 'x' (line 1)"


TIMEOUTS = [
    "while(true){}",
    "(async()=>{for(;;) await null})()",
    "/^(a+)+$/.test('a'.repeat(40)+'b')",
    "({toJSON(){for(;;);}})",
    "throw {toString(){for(;;);}}",
    "throw {get stack(){for(;;);}}",
    "setInterval(()=>0,1)",
    "setTimeout(()=>0,60000)",
    "Promise.reject({toString(){for(;;);}})",
    "const f=()=>Promise.resolve().then(f);f();1",
]


@pytest.mark.parametrize("code", TIMEOUTS)
def test_the_time_limit_holds_and_the_console_is_kept(programs: Programs, code: str) -> None:
    began = time.monotonic()
    result = programs.run("console.log('before');" + code, 0.4)
    assert result.outcome == "timed_out", result
    assert result.refusal is not None
    assert result.refusal.code == errors.JS_TIMED_OUT
    assert result.console == "before\n"
    assert time.monotonic() - began < 3
    assert (programs.run("1+1")).value == "2"


MEMORY = [
    "let a=[];for(;;)a.push(new Array(1e4).fill(1))",
    "let a=[];for(;;)a.push(new Uint8Array(64*1024*1024).fill(1))",
    "let a=[];for(;;)a.push({x:[a.length]})",
    "let a=[];for(;;)a.push('x'.repeat(1e6)+a.length)",
    "let a=[];for(;;)a.push(new ArrayBuffer(1e6))",
    "new Array(2**27).fill(0)",
    "'ab'.repeat(2**27).split('')",
    "throw new Error('x'.repeat(5e8))",
]


@pytest.mark.parametrize("code", MEMORY)
def test_the_memory_limit_holds(programs: Programs, code: str) -> None:
    result = programs.run(code)
    assert result.outcome in {"memory", "timed_out"}, result
    assert (programs.run("1+1")).value == "2"


def test_a_hundred_megabytes_are_there_to_use(programs: Programs) -> None:
    heap = programs.run("let a=[];for(let i=0;i<100;i++)a.push(new Array(131072).fill(i));a.length")
    assert heap.value == "100", heap
    typed = programs.run("let a=[];for(let i=0;i<100;i++)a.push(new Uint8Array(2**20).fill(i));a.length")
    assert typed.value == "100", typed


def test_nothing_is_left_over_for_the_next_program(programs: Programs) -> None:
    programs.run("globalThis.kept=1;Object.prototype.toJSON=()=>'x';Array.prototype.map=null;1")
    result = programs.run("[typeof kept,[1].map(x=>({a:x}))]")
    assert json.loads(result.value or "") == ["undefined", [{"a": 1}]]
    assert len({(programs.run("Math.random()")).value for _ in range(5)}) == 5
