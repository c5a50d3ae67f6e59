"""Runs the tests of the files beside this one, or in a folder, that fit a pattern, and tells of each in a report as JUnit's, if one is named.

Usage: run.py PATTERN [REPORT [FOLDER]]
"""

import pathlib
import sys
import unittest
import xml.etree.ElementTree as ElementTree


class Result(unittest.TextTestResult):
    """Notes how each test ended, besides printing it."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.suite = ElementTree.Element("testsuite", name=pathlib.Path(sys.argv[3]).name if len(sys.argv) > 3 else "clients")

    def note(self, test, ended=None):
        kind, _, name = test.id().rpartition(".")
        case = ElementTree.SubElement(self.suite, "testcase", classname=kind, name=name)
        if ended:
            ElementTree.SubElement(case, ended)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failure")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.note(subtest, "failure")


def main(pattern, report=None, folder=None):
    tests = unittest.TestLoader().discover(folder or str(pathlib.Path(__file__).parent), pattern)
    result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Result).run(tests)
    if report:
        file = pathlib.Path(report)
        file.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(result.suite).write(file, encoding="utf-8")
    return not result.wasSuccessful() or result.testsRun == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
