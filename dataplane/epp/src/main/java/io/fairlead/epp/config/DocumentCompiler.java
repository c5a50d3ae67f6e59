package io.fairlead.epp.config;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compiles documents. Whatever goes wrong, in the code of a plugin too, is told as one line per
 * problem: origin, field path as it stands there, reason. Any thread.
 */
public final class DocumentCompiler {

  private static final Logger LOG = LoggerFactory.getLogger(DocumentCompiler.class);

  /** Not the names of profiles that handlers have among their parameters. */
  private static final Pattern OF_ONE_PLUGIN =
      Pattern.compile("scheduler\\.plugins\\[\\d+]\\.(type|parameters(?!.*[pP]rofile))");

  private final ConfigCompiler compiler;

  /** What became of a document. */
  public sealed interface Result {

    /**
     * Ready to be applied.
     *
     * @param warnings one for each thing that it says and that is not carried out
     */
    record Usable(CompiledConfig config, List<String> warnings) implements Result {}

    /**
     * Can't be run.
     *
     * @param message one line per problem
     */
    record Refused(String message) implements Result {}
  }

  /**
   * A compiler that knows the built-in plugin types and these.
   *
   * @throws IllegalArgumentException if two have the same type
   */
  public DocumentCompiler(List<PluginFactory> plugins) {
    compiler = new ConfigCompiler(plugins);
  }

  /**
   * Makes a document's plugins and resolves its references.
   *
   * @param running what is in force: plugins that stay as they are keep what they learned
   */
  public Result compile(ConfigOffer.Document document, @Nullable CompiledConfig running) {
    try {
      CompiledConfig config = compiler.compile(document.config(), running);
      return new Result.Usable(
          config, config.warnings().stream().map(warning -> line(document, warning)).toList());
    } catch (InvalidConfigException e) {
      e.thrown().forEach(failure -> LOG.error("{}: a plugin failed", document.origin(), failure));
      return refused(document, e.problems());
    } catch (RuntimeException | Error e) {
      LOG.error("{}: can't be compiled", document.origin(), e);
      return new Result.Refused(document.origin() + ": can't be compiled: " + e);
    }
  }

  /** All that is wrong with it, in what of it could be read, too: one line per problem. */
  public String problems(ConfigOffer.Unreadable unreadable) {
    ConfigOffer.Unreadable.Rest rest = unreadable.rest();
    if (rest == null) {
      return unreadable.message();
    }
    try {
      compiler.compile(rest.document().config(), null);
      return unreadable.message();
    } catch (InvalidConfigException e) {
      return Stream.concat(
              Stream.of(unreadable.message()),
              e.problems().stream()
                  .filter(p -> !rest.pluginsAlone() || OF_ONE_PLUGIN.matcher(p.path()).lookingAt())
                  .map(problem -> line(rest.document(), problem)))
          .collect(Collectors.joining("\n"));
    } catch (RuntimeException | Error e) {
      LOG.debug("{}: the rest can't be compiled", unreadable.origin(), e);
      return unreadable.message();
    }
  }

  private static Result refused(ConfigOffer.Document document, List<Problem> problems) {
    return new Result.Refused(
        problems.stream()
            .map(problem -> line(document, problem))
            .collect(Collectors.joining("\n")));
  }

  private static String line(ConfigOffer.Document document, Problem problem) {
    SchedulingPlace place = document.scheduling();
    return place.holds(problem.path())
        ? place.origin() + ": " + place.path(problem.path()) + " " + problem.message()
        : document.origin() + ": " + problem;
  }
}
