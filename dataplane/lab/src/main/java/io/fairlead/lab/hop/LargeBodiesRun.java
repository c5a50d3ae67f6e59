package io.fairlead.lab.hop;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

/**
 * The program of {@code hack/load bodies}: large requests all at once, and how much more memory a
 * process has meanwhile.
 *
 * <p>Arguments: {@code --target URL}, {@code --process PID}, {@code --bodies N}, {@code --bytes N}
 * each, {@code --report FILE}.
 */
public final class LargeBodiesRun {

  private static final long BETWEEN_LOOKS_MILLIS = 5;

  private LargeBodiesRun() {}

  /** Prints what was answered and the memory; fails when a request had no answer, or another. */
  public static void main(String[] args) throws Exception {
    Programs.main(
        args,
        given -> {
          URI target = URI.create(given.text("--target"));
          long process = given.whole("--process");
          int bodies = Math.toIntExact(given.whole("--bodies"));
          int bytes = Math.toIntExact(given.whole("--bytes"));
          Path report = Path.of(given.text("--report"));
          given.nothingElse();
          return run(target, process, bodies, bytes, report);
        });
  }

  private static boolean run(URI target, long process, int bodies, int bytes, Path report)
      throws IOException, InterruptedException {
    byte[] request = Prompts.request(bytes);
    byte[] small = Prompts.request(256);
    try (PlainConnection first = new PlainConnection(target)) {
      first.send(small);
      if (first.read() != 200) {
        throw new IOException(target + " does not serve");
      }
    }
    long before = Programs.memory(process, "VmRSS");
    long peak = before;
    Map<String, Integer> answers = new TreeMap<>();
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < bodies; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    String answer = ask(target, request, go);
                    synchronized (answers) {
                      answers.merge(answer, 1, Integer::sum);
                    }
                  }));
    }
    go.countDown();
    while (threads.stream().anyMatch(Thread::isAlive)) {
      peak = Math.max(peak, Programs.memory(process, "VmRSS"));
      Thread.sleep(BETWEEN_LOOKS_MILLIS);
    }
    String text =
        String.format(
            Locale.ROOT,
            "%d bodies of %d bytes at once: answers %s; resident %d MiB before, %d MiB at most, %d MiB"
                + " more%n",
            bodies,
            bytes,
            answers,
            before >> 20,
            peak >> 20,
            (peak - before) >> 20);
    System.out.print(text);
    Files.writeString(report, text);
    int answered = answers.getOrDefault("200", 0) + answers.getOrDefault("429", 0);
    return answered == bodies && ProcessHandle.of(process).isPresent();
  }

  private static String ask(URI target, byte[] request, CountDownLatch go) {
    try (PlainConnection connection = new PlainConnection(target)) {
      go.await();
      try {
        connection.send(request);
      } catch (IOException refused) {
        // answered before all of it was sent: the answer is there
      }
      return Integer.toString(connection.read());
    } catch (IOException e) {
      return "cut";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "cut";
    }
  }
}
