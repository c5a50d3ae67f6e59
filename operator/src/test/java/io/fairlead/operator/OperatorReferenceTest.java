package io.fairlead.operator;

import io.fairlead.crds.testing.CommandReference;
import io.fairlead.crds.testing.GeneratedPage;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The page about the operator's options is what its command line is. */
class OperatorReferenceTest {

  @Test
  void theOperator() throws IOException {
    GeneratedPage page =
        new GeneratedPage(
            "The operator's options",
            """
            Every option of the operator, and the variables of its environment, as `--help` tells them. [install.md](../install.md) says where they are set, \
            [operations.md](../operations.md#ending-it) how the operator ends.
            """);
    CommandReference.add(page, FairleadOperator.commandLine());
    page.hold("reference/operator.md", OperatorReferenceTest.class);
  }
}
