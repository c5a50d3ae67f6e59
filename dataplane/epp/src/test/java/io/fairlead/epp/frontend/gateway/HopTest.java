package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HopTest {

  @ParameterizedTest
  @CsvSource({
    "10.0.0.7, 10.0.0.7",
    "2001:db8:0:0:0:0:0:1, 2001:db8::1",
    "0:0:0:0:0:0:0:1, ::1",
  })
  void tellsAnAddressAsProxiesWriteIt(String address, String told) {
    EmbeddedChannel channel =
        new EmbeddedChannel() {
          @Override
          protected SocketAddress remoteAddress0() {
            return new InetSocketAddress(InetAddress.ofLiteral(address), 40_000);
          }
        };
    assertThat(Hop.of(channel, false, "1.1")).isEqualTo(new Hop(told, "http", "1.1"));
    channel.finishAndReleaseAll();
  }
}
