package io.fairlead.epp.console;

import io.fairlead.epp.shadow.ShadowReport;
import io.fairlead.epp.status.PoolMoment;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.Map;

/** What the console shows; called on the admin server's loop, must not block. */
public interface ConsoleData {

  /** The pool as it is. */
  Future<PoolMoment> moment();

  /** The picker's status as JSON, with its pool as it was at one moment. */
  String status(PoolMoment moment);

  /** How shadows do. */
  List<ShadowReport> shadows();

  /**
   * The newest requests of which decisions are kept, newest first, in brief, as JSON.
   *
   * @param wanted field by field what they must be: {@code model}, {@code endpoint}, {@code
   *     outcome}
   * @param most how many
   */
  Future<String> decisions(Map<String, String> wanted, int most);
}
