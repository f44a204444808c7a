"""Run the tests of one module; write what became of each to a file, in the order of their names."""
import socket
import sys
import unittest


class Outcomes(unittest.TextTestResult):
    outcomes = {}

    def note(self, test, outcome):
        # A subtest is part of its test, and what went wrong stays.
        name = getattr(test, "test_case", test).id()
        if self.outcomes.get(name) not in ("error", "failure"):
            self.outcomes[name] = outcome

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "success")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, "error")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "failure")

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.note(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "failure")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.note(subtest, "failure")


if __name__ == "__main__":
    module, file = sys.argv[1:]
    # Of its own host a virtual machine may get no answer, ever: test_socket leaves out AF_VSOCK then.
    vars(socket).pop("IOCTL_VM_SOCKETS_GET_LOCAL_CID", None)
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    unittest.TextTestRunner(resultclass=Outcomes).run(suite)
    with open(file, "w") as out:
        for name, outcome in sorted(Outcomes.outcomes.items()):
            print(name, outcome, sep=": ", file=out)
