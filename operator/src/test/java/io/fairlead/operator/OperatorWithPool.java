package io.fairlead.operator;

import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * How tests of the operator begin and end: each has a namespace of its own on a real API server,
 * and an operator that serves it.
 */
@ExtendWith(KubeApi.class)
abstract class OperatorWithPool {

  static Installed cluster;

  PoolFixture pool;
  OperatorUnderTest operator;

  private final String prefix;
  private final boolean adopt;

  /**
   * Begins a test.
   *
   * @param prefix of its namespace
   * @param adopt whether pools without an EndpointPicker get a picker
   */
  OperatorWithPool(String prefix, boolean adopt) {
    this.prefix = prefix;
    this.adopt = adopt;
  }

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void startOperator() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace(prefix));
    operator = new OperatorUnderTest(cluster, pool, adopt);
  }

  @AfterEach
  void stopOperator() {
    operator.close();
  }
}
