package io.fairlead.epp.handover;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.News;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequest.Load;
import io.fairlead.core.handover.SentRequests;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Writes down what a picker knows, to be taken frame by frame. */
final class FrameWriter implements Knowledge {

  private static final int MOST_CHARACTERS = 1_024;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  /** What was written since the last call. */
  byte[] take() {
    byte[] frame = bytes.toByteArray();
    bytes.reset();
    return frame;
  }

  private interface Writing {
    void write() throws IOException;
  }

  private void put(byte kind, Writing rest) {
    try {
      out.writeByte(kind);
      rest.write();
    } catch (IOException e) {
      throw new UncheckedIOException("memory can't be written to", e);
    }
  }

  /**
   * Begins.
   *
   * @param config hash of the one in force: plugins learn from others of the same settings alone
   * @param hashing of prompts
   */
  void config(String config, String hashing) {
    put(
        Wire.CONFIG,
        () -> {
          out.writeUTF(config);
          out.writeUTF(hashing);
        });
  }

  /** What became of a picker's requests. */
  void news(long picker, News news) {
    put(
        Wire.FROM,
        () -> {
          out.writeLong(picker);
          out.writeBoolean(news.anew());
        });
    for (SentRequests to : news.sent()) {
      endpoint(to.endpoint(), to.startedAt(), 0);
      for (SentRequest request : to.requests()) {
        put(Wire.SENT, () -> request(request));
      }
    }
    for (News.Computed one : news.computed()) {
      put(
          Wire.COMPUTED,
          () -> {
            out.writeLong(one.number());
            out.writeLong(one.age());
          });
    }
    for (News.Over one : news.over()) {
      put(
          Wire.OVER,
          () -> {
            out.writeLong(one.number());
            end(one.end());
          });
    }
  }

  private void request(SentRequest request) throws IOException {
    Load load = request.load();
    out.writeLong(request.number());
    out.writeLong(request.age());
    out.writeInt(load.tokens());
    out.writeInt(load.cached());
    out.writeInt(load.answers());
    out.writeBoolean(load.critical());
    out.writeBoolean(load.sheddable());
    out.writeBoolean(load.computes());
    out.writeBoolean(request.computed());
    News.End end = request.end();
    out.writeBoolean(end != null);
    if (end != null) {
      end(end);
    }
    blocks(request.prompt().salted());
  }

  private void end(News.End end) throws IOException {
    out.writeLong(end.age());
    out.writeInt(end.answerTokens());
  }

  private void blocks(long[] blocks) throws IOException {
    out.writeInt(blocks.length);
    for (long block : blocks) {
      out.writeLong(block);
    }
  }

  private void numbers(double[] numbers) throws IOException {
    out.writeInt(numbers.length);
    for (double number : numbers) {
      out.writeDouble(number);
    }
  }

  /** Names are those of models and endpoints, or were made up by a client: no longer than this. */
  private void name(String name) throws IOException {
    out.writeUTF(name.length() <= MOST_CHARACTERS ? name : name.substring(0, MOST_CHARACTERS));
  }

  @Override
  public void tokens(String model, double[] learned) {
    put(
        Wire.TOKENS,
        () -> {
          name(model);
          numbers(learned);
        });
  }

  @Override
  public void learned(int plugin, String key, double[] values) {
    put(
        Wire.LEARNED,
        () -> {
          out.writeInt(plugin);
          name(key);
          numbers(values);
        });
  }

  @Override
  public void endpoint(EndpointSpec endpoint, double startedAt, int blocks) {
    put(
        Wire.ENDPOINT,
        () -> {
          name(endpoint.name());
          name(endpoint.incarnation());
          name(endpoint.address());
          out.writeInt(endpoint.port());
          out.writeDouble(startedAt);
          out.writeInt(blocks);
        });
  }

  @Override
  public void idle(long nanos) {
    put(Wire.IDLE, () -> out.writeLong(nanos));
  }

  @Override
  public void speeds(int plugin, double[] values) {
    put(
        Wire.SPEEDS,
        () -> {
          out.writeInt(plugin);
          numbers(values);
        });
  }

  @Override
  public void part(int part, int before, long[] blocks) {
    put(
        Wire.PART,
        () -> {
          out.writeInt(part);
          out.writeInt(before);
          blocks(blocks);
        });
  }

  @Override
  public void held(int part, int blocks) {
    put(
        Wire.HELD,
        () -> {
          out.writeInt(part);
          out.writeInt(blocks);
        });
  }

  @Override
  public void cut() {
    put(Wire.CUT, () -> {});
  }
}
