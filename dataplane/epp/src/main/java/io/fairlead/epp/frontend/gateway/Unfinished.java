package io.fairlead.epp.frontend.gateway;

import io.netty.channel.Channel;

/**
 * What is here of a client's head or frame that is not whole, and of requests that wait behind
 * another, so that nothing else counts its bytes. On the loop of its connection.
 */
final class Unfinished implements ClientBytes.Client {

  private final Channel channel;
  private final ClientBytes all;
  private long bytes;
  private long behind;
  private boolean told;

  Unfinished(Channel channel, ClientBytes all) {
    this.channel = channel;
    this.all = all;
  }

  /** So many more bytes came. */
  void came(long count) {
    bytes += count;
  }

  /** All of it is here. */
  void whole() {
    isOnly(0);
  }

  /** What was before the last so many bytes is whole. */
  void isOnly(long count) {
    bytes = count;
  }

  /** So much more memory is taken by requests that wait behind another, or so much less. */
  void waitBehind(long more) {
    behind += more;
    if (told) {
      settle();
    }
  }

  boolean isThere() {
    return bytes > 0;
  }

  /** What one read brought has been looked at. */
  void settle() {
    if (bytes + behind > 0) {
      all.add(this, bytes + behind);
      told = true;
    } else {
      stop();
    }
  }

  /** Nothing of it waits any more. */
  void stop() {
    if (told) {
      told = false;
      all.remove(this);
    }
  }

  @Override
  public void cutOff() {
    told = false;
    var _ = channel.close();
  }
}
