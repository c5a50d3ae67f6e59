package io.fairlead.epp.capture;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The pair of files being written. Each pair can be read by itself: it begins with the config, the
 * endpoints and the number of pickers that were in force. Used by the writer alone.
 */
final class Output {

  private final CaptureFolder folder;
  private final Header header;
  private final CaptureCounters counters;
  private final LineJson json = new LineJson();
  private @Nullable OutputFile requests;
  private @Nullable OutputFile state;
  private Line.@Nullable Config config;
  private Line.@Nullable Endpoints endpoints;
  private Line.@Nullable Replicas replicas;

  /** Bytes of state with which the present pair began. */
  private long preamble;

  Output(CaptureFolder folder, Header header, CaptureCounters counters) {
    this.folder = folder;
    this.header = header;
    this.counters = counters;
  }

  /** Ends the pair, if there is one, and begins the next. */
  void open() throws IOException {
    close();
    CaptureFolder.Pair pair = folder.next();
    requests = new OutputFile(pair.requests(), counters);
    OutputFile begun = new OutputFile(pair.state(), counters);
    state = begun;
    begun.begin(json.header(header));
    if (config != null) {
      begun.begin(json.config(config));
    }
    if (endpoints != null) {
      begun.begin(json.endpoints(endpoints));
    }
    if (replicas != null) {
      begun.begin(LineJson.replicas(replicas));
    }
    try {
      begun.flush();
    } catch (IOException e) {
      folder.discard();
      throw e;
    }
    preamble = begun.size();
    folder.prune();
  }

  /**
   * Notes what the next pair is to begin with. To be told of every line, also of one that is not
   * written: whatever becomes of it, it is in force from then on.
   */
  void note(Line line) {
    switch (line) {
      case Line.Config current -> config = current;
      case Line.Endpoints current -> {
        endpoints = current;
        json.keep(current.endpoints());
      }
      case Line.Replicas current -> replicas = current;
      case Line.Scrape _,
          Line.Unreachable _,
          Line.Ticks _,
          Line.Probed _,
          Line.Unasked _,
          Line.RefusedWaiting _,
          Line.NotTold _,
          CapturedRequest _ -> {}
    }
  }

  /** Appends a line that is noted to its file, in the next pair when this one has no room. */
  void write(Line line) throws IOException {
    byte[] bytes = bytes(line);
    if (requests == null || state == null || !fits(line, bytes.length)) {
      open();
      if (line.equals(config) || line.equals(endpoints) || line.equals(replicas)) {
        counters.written(1, 0); // the pair begins with it
        return;
      }
      bytes = bytes(line); // a new file does not refer to what an earlier one has said
    }
    OutputFile file = line instanceof CapturedRequest ? requests : state;
    if (file == null) {
      throw new IOException("no file is open");
    }
    file.append(bytes);
  }

  private byte[] bytes(Line line) {
    return switch (line) {
      case Line.Config current -> json.config(current);
      case Line.Endpoints current -> json.endpoints(current);
      case Line.Replicas current -> LineJson.replicas(current);
      case Line.Scrape scrape -> json.scrape(scrape);
      case Line.Unreachable failed -> LineJson.unreachable(failed);
      case Line.Ticks ticks -> LineJson.ticks(ticks);
      case Line.Probed probed -> LineJson.probed(probed);
      case Line.Unasked unasked -> LineJson.unasked(unasked);
      case Line.RefusedWaiting refused -> LineJson.refusedWaiting(refused);
      case Line.NotTold untold -> LineJson.untold(untold);
      case CapturedRequest request -> RequestJson.line(request);
    };
  }

  /** A line that is longer than a file may be gets one of its own. */
  private boolean fits(Line line, int length) {
    if (requests == null || state == null) {
      return false;
    }
    long most = header.config().fileBytes();
    return line instanceof CapturedRequest
        ? requests.size() == 0 || requests.size() + length <= most
        : state.size() == preamble || state.size() + length <= most;
  }

  /** Brings all that was appended to the disk. */
  void flush() throws IOException {
    if (requests != null && state != null) {
      requests.flush();
      state.flush();
    }
  }

  /** Writes what is left to both files and closes them, also when one of them fails. */
  void close() throws IOException {
    OutputFile first = requests;
    OutputFile second = state;
    requests = null;
    state = null;
    if (first != null && second != null) {
      try {
        first.close();
      } finally {
        second.close();
      }
    }
  }
}
