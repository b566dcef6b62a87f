"""The part of module unittest that MicroPython's tests use, for tiles. Reports as its own library does."""


class SkipTest(Exception):
    pass


class Raises:
    def __init__(self, wanted):
        self.wanted = wanted

    def __enter__(self):
        return self

    def __exit__(self, kind, value, _):
        if kind is None:
            raise AssertionError("%r was not raised" % self.wanted)
        self.exception = value
        return issubclass(kind, self.wanted)


class TestCase:
    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def assertTrue(self, x, message="not true"):
        if not x:
            raise AssertionError(message)

    def assertEqual(self, a, b):
        self.assertTrue(a == b, "%r is not %r" % (a, b))

    def assertIn(self, a, b):
        self.assertTrue(a in b, "%r is not in %r" % (a, b))

    def assertIsInstance(self, a, b):
        self.assertTrue(isinstance(a, b), "%r is no %r" % (a, b))

    def assertRaises(self, wanted, function=None, *arguments):
        if function is None:
            return Raises(wanted)
        with Raises(wanted):
            function(*arguments)


def skip_test(*_):
    raise SkipTest


def skipIf(condition, _):
    return lambda function: skip_test if condition else function


def skipUnless(condition, reason):
    return skipIf(not condition, reason)


def run_case(case, name):
    test = case()
    test.setUp()
    try:
        getattr(test, name)()
    finally:
        test.tearDown()


def main():
    import sys

    module = __import__("__main__")
    ran = skipped = failed = 0
    for case in [getattr(module, name) for name in dir(module)]:
        if not (isinstance(case, type) and issubclass(case, TestCase)):
            continue
        case.setUpClass()
        for name in dir(case):
            if not name.startswith("test"):
                continue
            ran += 1
            try:
                run_case(case, name)
            except SkipTest:
                skipped += 1
            except Exception as e:
                failed += 1
                print(name, "failed:")
                sys.print_exception(e)
    print("-" * 70)
    print("Ran %d tests\n" % ran)
    if failed:
        print("FAILED (failures=%d, errors=0)" % failed)
    else:
        print("OK" + (" (skipped=%d)" % skipped if skipped else ""))
