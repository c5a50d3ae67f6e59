package io.fairlead.epp.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AccessTest {

  private static final String TOKEN = "the token of the console";

  @TempDir private Path folder;
  private Path file = Path.of("");
  private long nanos;
  private long seconds = 1_800_000_000;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(folder.resolve("token"), TOKEN + "\n");
  }

  private Access withToken() {
    return Access.with(
        new AccessToken(file, () -> nanos, () -> Instant.ofEpochSecond(seconds)), () -> nanos);
  }

  private static SocketAddress at(String address) {
    try {
      return new InetSocketAddress(InetAddress.getByName(address), 40_000);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static HttpHeaders headers(String... pairs) {
    HttpHeaders headers = new DefaultHttpHeaders();
    for (int i = 0; i < pairs.length; i += 2) {
      headers.add(pairs[i], pairs[i + 1]);
    }
    return headers;
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1,true",
    "127.0.0.6,false",
    "::1,true",
    "::ffff:127.0.0.1,true",
    "10.0.0.7,false",
    "::ffff:10.0.0.7,false",
    "fd00::7,false",
    "0.0.0.0,false"
  })
  void thisHostIsTheLoopback(String address, boolean local) {
    assertThat(Access.isLocal(at(address))).isEqualTo(local);
    assertThat(Access.of(null).admits(at(address), headers("host", "localhost:9090")))
        .isEqualTo(local);
  }

  @Test
  void whatIsNoAddressIsNotThisHost() {
    assertThat(Access.isLocal(null)).isFalse();
    assertThat(Access.isLocal(InetSocketAddress.createUnresolved("localhost", 1))).isFalse();
  }

  /** A page of somebody's whose name leads here makes a browser on this host ask. */
  @ParameterizedTest
  @CsvSource({
    "localhost,true",
    "LocalHost:9090,true",
    "127.0.0.1:9090,true",
    "127.1.2.3,true",
    "[::1]:9090,true",
    "rebound.example,false",
    "rebound.example:9090,false",
    "localhost.rebound.example,false",
    "127.0.0.1.rebound.example,false",
    "localhost:9090.rebound.example,false",
    "10.0.0.7:9090,false",
    "'',false"
  })
  void thisHostIsAskedByANameOfItsOwn(String name, boolean admitted) {
    assertThat(Access.of(null).admits(at("127.0.0.1"), headers("host", name))).isEqualTo(admitted);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Forwarded", "X-Forwarded-For", "x-forwarded-host"})
  void whatAProxyOnThisHostPassesOnIsFromElsewhere(String header) {
    HttpHeaders passedOn = headers("host", "localhost", header, "127.0.0.1");
    assertThat(Access.of(null).admits(at("127.0.0.1"), passedOn)).isFalse();
  }

  @Test
  void oneNameIsEnough() {
    HttpHeaders two = headers("host", "localhost", "host", "rebound.example");
    assertThat(Access.of(null).admits(at("127.0.0.1"), two)).isFalse();
    assertThat(Access.of(null).admits(at("127.0.0.1"), headers())).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "Bearer the token of the console,true",
    "bearer   the token of the console,true",
    "Bearer the token of the consol,false",
    "Bearer the token of the console!,false",
    "Bearer,false",
    "Basic the token of the console,false",
    "the token of the console,false"
  })
  void othersBringTheToken(String authorization, boolean admitted) {
    HttpHeaders headers = headers("host", "picker.example", "authorization", authorization);
    assertThat(withToken().admits(at("10.0.0.7"), headers)).isEqualTo(admitted);
    assertThat(Access.of(null).admits(at("10.0.0.7"), headers)).isFalse();
  }

  @Test
  void aSessionLastsHalfADayAndAsLongAsTheToken() throws IOException {
    Access access = withToken();
    assertThat(access.login(at("10.0.0.7"), "something else")).isNull();
    assertThat(access.login(at("10.0.0.7"), "")).isNull();
    HttpHeaders session = session(access);
    assertThat(admits(access, session)).isTrue();
    assertThat(admits(withToken(), session)).as("another picker with the same token").isTrue();
    seconds += AccessToken.SESSION_SECONDS - 1;
    assertThat(admits(access, session)).isTrue();
    seconds += 1;
    assertThat(admits(access, session)).isFalse();

    HttpHeaders later = session(access);
    Files.writeString(file, "another token of the console");
    assertThat(admits(access, later)).as("not read again yet").isTrue();
    nanos += TimeUnit.SECONDS.toNanos(2);
    assertThat(admits(access, later)).isFalse();
  }

  private static HttpHeaders session(Access access) {
    return headers(
        "cookie",
        "a=b; fairlead-console=" + Objects.requireNonNull(access.login(at("10.0.0.7"), TOKEN)));
  }

  private static boolean admits(Access access, HttpHeaders headers) {
    return access.admits(at("10.0.0.7"), headers);
  }

  @Test
  void whoLogsOutIsOutAtThisPickerAndNobodyElseIs() {
    Access access = withToken();
    HttpHeaders session = session(access);
    HttpHeaders other = session(access);
    access.logout(session);
    assertThat(admits(access, session)).isFalse();
    assertThat(access.stillAdmits(at("10.0.0.7"), session)).isFalse();
    assertThat(admits(access, other)).as("of the same second").isTrue();
    assertThat(admits(withToken(), session)).as("another picker is not told").isTrue();
    access.logout(headers());
    access.logout(headers("cookie", "fairlead-console=made.up"));
    Access.of(null).logout(session);
    assertThat(admits(access, other)).isTrue();
  }

  /** Also of who has logged out so often that not all can be remembered. */
  @Test
  void noSessionThatWasEndedIsOpenAgainHoweverManyAre() {
    AccessToken token = new AccessToken(file, () -> nanos, () -> Instant.ofEpochSecond(seconds));
    List<String> ended = new ArrayList<>();
    for (int i = 0; i < 3 * AccessToken.MOST_ENDED; i++) {
      seconds += i % 2;
      String session = token.newSession();
      token.end(session);
      token.end(session);
      ended.add(session);
      assertThat(token.ended()).isLessThanOrEqualTo(AccessToken.MOST_ENDED);
    }
    assertThat(ended).noneMatch(token::isOpen);
    seconds++;
    assertThat(token.isOpen(token.newSession())).as("who logs in again").isTrue();

    for (String made : List.of("", "x.y", ended.getFirst() + "x")) {
      token.end(made);
    }
    seconds += AccessToken.SESSION_SECONDS;
    token.end(token.newSession());
    assertThat(token.ended()).as("the others' time has come").isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "1",
        "1.",
        "9999999999.",
        "9999999999.AAAA",
        "99999999999999999999.x",
        "-1.x",
        "x.y",
        "the token of the console"
      })
  void aMadeUpSessionIsNone(String made) {
    assertThat(admits(withToken(), headers("cookie", "fairlead-console=" + made))).isFalse();
  }

  @Test
  void theEndOfASessionCannotBeMoved() {
    Access access = withToken();
    String session = Objects.requireNonNull(access.login(at("10.0.0.7"), TOKEN));
    String moved = "9999999999" + session.substring(session.indexOf('.'));
    assertThat(admits(access, headers("cookie", "fairlead-console=" + moved))).isFalse();
  }

  @Test
  void aTokenThatIsMissingOrShortLetsNobodyInAndMayComeLater() throws IOException {
    Access access = withToken();
    HttpHeaders bearer = headers("authorization", "Bearer " + TOKEN);
    Files.delete(file);
    assertThat(admits(access, bearer)).isFalse();
    assertThat(access.closed()).contains("is not there");
    Files.writeString(file, "fifteen letters");
    nanos += TimeUnit.SECONDS.toNanos(2);
    assertThat(admits(access, headers("authorization", "Bearer fifteen letters"))).isFalse();
    assertThat(access.closed()).contains("from 16 to 4096 bytes").doesNotContain("fifteen");
    Files.writeString(file, TOKEN);
    nanos += TimeUnit.SECONDS.toNanos(2);
    assertThat(admits(access, bearer)).isTrue();
    assertThat(access.closed()).isEmpty();
  }

  @Test
  void whoShowsWrongTokensMustWaitAndNobodyElse() {
    Access access = withToken();
    HttpHeaders session = session(access);
    HttpHeaders wrong = headers("authorization", "Bearer something else");
    HttpHeaders right = headers("authorization", "Bearer " + TOKEN);
    for (int i = 0; i < WrongTokens.MOST_OF_ONE; i++) {
      assertThat(access.secondsToWait(at("10.0.0.7"))).isZero();
      if (i % 2 == 0) {
        assertThat(admits(access, wrong)).isFalse();
      } else {
        assertThat(access.login(at("10.0.0.7"), "guess " + i)).isNull();
      }
    }
    assertThat(access.secondsToWait(at("10.0.0.7"))).isEqualTo(6);
    assertThat(admits(access, right)).as("not looked at").isFalse();
    assertThat(access.login(at("10.0.0.7"), TOKEN)).isNull();
    assertThat(admits(access, session)).as("who is in stays in").isTrue();
    assertThat(access.admits(at("10.0.0.8"), right)).isTrue();
    assertThat(access.admits(at("127.0.0.1"), headers("host", "localhost"))).isTrue();

    nanos += WrongTokens.REFILL_NANOS;
    assertThat(access.secondsToWait(at("10.0.0.7"))).isZero();
    assertThat(admits(access, right)).isTrue();
  }

  @Test
  void allTogetherMayTryOnlySoOftenFromHoweverManyAddresses() {
    WrongTokens tries = new WrongTokens(() -> nanos);
    for (int i = 0; i < WrongTokens.MOST; i++) {
      SocketAddress client = at("10.0." + i + ".1");
      assertThat(tries.secondsToWait(client)).isZero();
      tries.count(client);
    }
    assertThat(tries.secondsToWait(at("10.1.0.1"))).isEqualTo(1);
    nanos += WrongTokens.REFILL_NANOS / 10;
    assertThat(tries.secondsToWait(at("10.1.0.1"))).isZero();

    for (int i = 0; i < 100_000; i++) {
      nanos += WrongTokens.REFILL_NANOS / 10;
      tries.count(at("10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255)));
    }
    assertThat(tries.addresses()).isEqualTo(WrongTokens.MOST_ADDRESSES);
  }

  @Test
  void aNetworkOfTheNewerKindIsOneClient() {
    WrongTokens tries = new WrongTokens(() -> nanos);
    for (int i = 0; i < WrongTokens.MOST_OF_ONE; i++) {
      tries.count(at("fd00::" + i));
    }
    assertThat(tries.secondsToWait(at("fd00::ffff"))).isEqualTo(6);
    assertThat(tries.secondsToWait(at("fd00:0:0:1::1"))).isZero();
    assertThat(tries.secondsToWait(at("::ffff:253.0.0.0"))).isZero();
    tries.count(null);
    assertThat(tries.secondsToWait(null)).isZero();
  }
}
