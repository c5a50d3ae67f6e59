package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.stub.profile.EngineProfiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PoolDocumentTest {

  private static PoolSpec read(String text) {
    return PoolSpec.read("mine", "mine.yaml", text, EngineProfiles.shipped());
  }

  @Test
  void readsGroupsOfServers() {
    PoolSpec pool =
        read(
            """
            summary: some of them older
            servers:
            - {count: 3, engine: h100-8b}
            - {engine: l40s-8b, slower: 1.4}
            """);

    assertThat(pool.text()).isEqualTo("mine");
    assertThat(pool.engines()).isEqualTo(PoolSpec.parse("3xh100-8b+1xl40s-8b*1.4").engines());
  }

  @Test
  void readsRolesRacksAndTheLink() {
    PoolSpec pool =
        read(
            """
            link: {gigabytesPerSecond: 40, acrossRacks: 2}
            servers:
            - {engine: h100-8b, role: prefill, rack: a}
            - {count: 2, engine: h100-8b, role: decode, rack: b}
            """);

    assertThat(pool.sites())
        .containsExactly(
            new Site("prefill", "a"), new Site("decode", "b"), new Site("decode", "b"));
    assertThat(pool.link())
        .isEqualTo(new KvLink(KvLink.USUAL.bytesPerToken(), 40, KvLink.USUAL.millis(), 2));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | servers: is missing; set one or more, as in [{count: 8, engine: h100-8b}]",
        "servers: 3 | servers: is no list of something; set one or more",
        "servers: [3] | servers[0]: is \"3\"; write fields, as in NAME: VALUE",
        "servers: [{count: 3}] | servers[0].engine: is missing; set one of h100-8b, ",
        "servers: [{engine: b300}] | servers[0].engine: is \"b300\"; set one of h100-8b, ",
        "servers: [{engine: h100-8b, count: 0}] | servers[0].count: is \"0\"; set a whole number from 1",
        "servers: [{engine: h100-8b, count: 20000}] | servers[0].count: makes more than 10000 servers",
        "servers: [{engine: h100-8b, slower: -1}] | servers[0].slower: is \"-1\"; set a number above 0",
        "servers: [{engine: h100-8b, speed: 1}] | servers[0].speed: is no field of a group of servers; it has count, engine, slower, role, rack",
        "servers: [{engine: h100-8b, role: cook}] | servers[0].role: is \"cook\"; set one of prefill, decode, both, or leave it out",
        "{link: {speed: 3}, servers: [{engine: h100-8b}]} | link.speed: is no field of a link; it has bytesPerToken, gigabytesPerSecond, millis, acrossRacks",
        "{link: {gigabytesPerSecond: 0}, servers: [{engine: h100-8b}]} | link.gigabytesPerSecond: is \"0\"; set a number above 0",
        "{engines: 1, servers: [{engine: h100-8b}]} | engines: is no field of a pool; it has summary, servers, link",
      })
  void whatIsWrongIsToldWithItsFieldAndWhatHelps(String text, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(text))
        .withMessageStartingWith("mine.yaml")
        .withMessageContaining(": " + message);
  }
}
