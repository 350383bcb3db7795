from __future__ import annotations

import pytest

from allotment.devices.cel import Environment, EvaluationError, compile_selector
from allotment.quantities.quantity_text import FORMAT
from tests.devices.cel.cards import ask, card

TRUE = """
1 + 2 * 3 == 7 && (1 + 2) * 3 == 9
-5 / 2 == -2 && -5 % 3 == -2
1 < 2u && 1u < 2.0 && 1 <= 1.0
dyn(1) == 1.0 && dyn(1) != dyn(true)
'a' + 'b' == 'ab' && b'a' + b'b' == b'ab' && [1] + [2] == [1, 2]
'a' < 'b' && false < true
size('åé') == 2 && b'é'.size() == 2
'\\x41\\101\\u0041\\U00000041' == 'AAAA' && r'a\\n'.size() == 3
'''a''' == \"\"\"a\"\"\"
0xFF == 255 && 1.5e3 == 1500.0 && .5 == 0.5
[1, 2, 3].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2, 2].exists_one(x, x == 1)
[1, 2, 3].map(x, x * 2) == [2, 4, 6] && [1, 2, 3].map(x, x > 1, x) == [2, 3]
[1, 2, 3].filter(x, x > 1) == [2, 3]
[1, 2, 3].exists(x, 1 / (x - 2) == 1)
!{'a': 1}.all(k, k != 'a')
{'a': 1}.a == 1 && {1: 'x'}[1] == 'x' && {true: 1}[true] == 1
has({'a': 1}.a) && !has({'a': 1}.b)
{'a': {'b': 1}}.?a.?b.orValue(2) == 1 && {'a': 1}.?x.orValue(2) == 2
optional.of(1).or(optional.of(2)).value() == 1 && optional.none() == optional.none()
optional.of(5).optMap(x, x + 1).value() == 6
[?optional.of(1), ?optional.none()] == [1] && {?'a': optional.none()} == {}
!optional.ofNonZeroValue('').hasValue()
[1, 2].exists(i, v, i == 1 && v == 2) && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}
['a', 'b'].transformMapEntry(i, v, {v: i}) == {'a': 0, 'b': 1}
[1, 2].transformList(i, v, i > 0, v) == [2]
cel.bind(x, 2, cel.bind(y, x + 1, x * y == 6))
type(1) == int && type('a') == string && type(null) == null_type
string(1.5) == '1.5' && string(1e6) == '1e+06' && int('-5') == -5 && int(3.9) == 3
duration('1h30m') == duration('90m') && string(duration('1h')) == '3600s'
timestamp('2026-01-02T03:04:05Z').getHours('+02:00') == 5
timestamp('2026-01-02T00:00:00Z') - timestamp('2026-01-01T00:00:00Z') == duration('24h')
'a,b,c'.split(',', 2) == ['a', 'b,c'] && ['a', 'b'].join('-') == 'a-b'
'hello'.substring(1, 3) == 'el' && 'hello'.indexOf('l', 3) == 3 && 'hello'.lastIndexOf('l') == 3
'hello'.replace('l', 'L', 1) == 'heLlo' && ' x '.trim() == 'x' && 'hello'.charAt(5) == ''
'ÀB'.lowerAscii() == 'Àb' && strings.quote('a') == '"a"'
'%s %d %.2f %x %b'.format(['a', 1, 1.234, 255, 5]) == 'a 1 1.23 ff 101'
'%s'.format([[1, 2]]) == '[1, 2]' && '100%%'.format([]) == '100%'
'abc'.find('b.') == 'bc' && 'abcabc'.findAll('a.', 1) == ['ab']
[3, 1, 2].sort() == [1, 2, 3] && [3, 1].sortBy(x, -x) == [3, 1] && [1, 1].distinct() == [1]
[[1], [2, 3]].flatten() == [1, 2, 3] && lists.range(3) == [0, 1, 2] && [1, 2].reverse() == [2, 1]
[1, 2, 3].slice(0, 2) == [1, 2] && [1].first().value() == 1 && ![].last().hasValue()
[1, 2].sum() == 3 && [1, 2].max() == 2 && [1, 2].isSorted() && [1, 2].indexOf(2) == 1
sets.contains([1, 2], [1]) && sets.intersects([1], [1]) && sets.equivalent([1, 1], [1])
quantity('1Ki').compareTo(quantity('1k')) == 1 && quantity('10').sub(3).asInteger() == 7
isQuantity('1Gi') && !isQuantity('1GiB') && sign(quantity('-1')) == -1
semver('v1.2', true).minor() == 2 && semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))
isSemver('1.2.3') && !isSemver('01.2.3')
url('https://example.com:80/p?k=v').getPort() == '80' && !isURL('not a url')
ip('1.2.3.4').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3') && !isCIDR('10.0.0.0/33')
!format.dns1123Label().validate('abc').hasValue() && format.named('uuid').hasValue()
"""


@pytest.mark.parametrize("expression", TRUE.strip().split("\n"))
def test_it_holds(expression: str) -> None:
    assert ask(expression.replace("\\\\", "\\"))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("9223372036854775807 + 1 > 0", "integer overflow"),
        ("-(-9223372036854775808) > 0", "integer overflow"),
        ("1u - 2u == 0u", "unsigned integer overflow"),
        ("1 % 0 == 0", "modulus by zero"),
        ("int(dyn(1e30) + 1.0) == 1", "integer overflow"),
        ("'abc'.substring(2, 1) == ''", "invalid substring range. start: 2, end: 1"),
        ("'abc'.charAt(9) == ''", "index out of range: 9"),
        ("[1, 2, 3].all(x, 1 / (x - 2) > -2)", "division by zero"),
        ("[].max() == 1", "max called on empty list"),
        ("optional.none().value() == 1", "optional.none() dereference"),
        ("semver('1.2').major() == 1", "No Major.Minor.Patch elements found"),
        ("quantity('lots').isInteger()", FORMAT),
        ("{'a': 1}['b'] == 1", "no such key: b"),
        ("['a', 'a'].transformMapEntry(i, v, {v: i}) == {}", "insert failed: key a already exists"),
        ("quantity('1') == quantity('1').add(0)", "no such overload"),
    ],
)  # fmt: skip
def test_it_fails(expression: str, text: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        ask_error(expression)
    assert caught.value.message == text


def ask_error(expression: str) -> None:
    program = compile_selector(expression, Environment())
    with pytest.raises(EvaluationError) as counted:
        program.count(card).outcome()
    with pytest.raises(EvaluationError) as caught:
        program.evaluate(card)
    assert caught.value.message == counted.value.message
    raise caught.value
