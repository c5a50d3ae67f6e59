package io.fairlead.epp.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdminServerTest {

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1,true",
    "127.9.9.9,true",
    "::1,true",
    "::ffff:127.0.0.1,true",
    "10.0.0.7,false",
    "::ffff:10.0.0.7,false",
    "fd00::7,false",
    "0.0.0.0,false"
  })
  void thisHostIsTheLoopback(String address, boolean local) throws UnknownHostException {
    assertThat(AdminServer.isLocal(new InetSocketAddress(InetAddress.getByName(address), 40000)))
        .isEqualTo(local);
  }

  @Test
  void whatIsNoAddressIsNotThisHost() {
    assertThat(AdminServer.isLocal(null)).isFalse();
    assertThat(AdminServer.isLocal(InetSocketAddress.createUnresolved("localhost", 1))).isFalse();
  }
}
