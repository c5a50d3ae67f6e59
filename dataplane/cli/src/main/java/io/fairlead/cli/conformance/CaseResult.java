package io.fairlead.cli.conformance;

/**
 * What came of a case.
 *
 * @param name of the case
 * @param meaning what a scheduler does that passes it
 * @param required whether a picker relies on it
 * @param problem what was wrong; empty if nothing was
 */
record CaseResult(String name, String meaning, boolean required, String problem) {

  boolean passed() {
    return problem.isEmpty();
  }

  boolean failed() {
    return required && !passed();
  }

  String verdict() {
    return passed() ? "pass" : required ? "FAIL" : "warn";
  }
}
