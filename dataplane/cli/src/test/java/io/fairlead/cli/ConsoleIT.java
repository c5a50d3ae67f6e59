package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.testing.FreePort;
import io.fairlead.epp.console.ConsoleConfig;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import javax.imageio.ImageIO;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** What a person sees of a gateway in a browser. */
final class ConsoleIT {

  private static final String COST = "{plugins: [{type: work-cost}]}";
  private static final String SHADOWS =
      "[{name: by-load, scheduling: {plugins: [{type: queue-scorer}]}}]";
  private static final String ROPE = "The rope runs through the fairlead. ".repeat(400);

  /** How different a picture may look: numbers move, and letters are drawn in more than one way. */
  private static final double TOLERANCE = 0.15;

  /** How long it may take until it looks as it should: what a server tells may come later. */
  private static final Duration SETTLES = Duration.ofSeconds(30);

  @TempDir private Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();
  private @Nullable Browser browser;
  private @Nullable GatewayUnderTest gateway;

  @BeforeEach
  void openBrowser() throws IOException {
    browser = new Browser(Files.createDirectory(temporary.resolve("profile")));
  }

  @AfterEach
  void close() {
    if (browser != null) {
      browser.close();
    }
    if (gateway != null) {
      gateway.close();
    }
    client.shutdownNow(); // a test that fails leaves streams open
  }

  private Browser browser() {
    return Objects.requireNonNull(browser);
  }

  private GatewayUnderTest start(List<String> endpoints, String host, int port, ConsoleConfig with)
      throws Exception {
    return start(COST, endpoints, host, port, with);
  }

  private GatewayUnderTest start(
      String scheduling, List<String> endpoints, String host, int port, ConsoleConfig with)
      throws Exception {
    gateway =
        new GatewayUnderTest(
            temporary,
            endpoints,
            scheduling,
            SHADOWS,
            parts -> parts.admin(host, port).console(with));
    return gateway;
  }

  private GatewayUnderTest start() throws Exception {
    return start(List.of("one", "two", "three"), "127.0.0.1", 0, new ConsoleConfig(null));
  }

  private void look(GatewayUnderTest at) {
    browser().open(at.adminUrl() + "/console/");
    browser().awaitText("#link", "Live");
  }

  @Test
  void showsThePoolAndWhyARequestWentWhereItDid() throws Exception {
    GatewayUnderTest pool = start();
    ask(pool, "m", "first");
    ask(pool, "m", "again");
    look(pool);

    assertThat(browser().text("#pool-name")).isEqualTo("default/test");
    browser().awaitText("#readiness", "serving");
    for (String figure : List.of("3 of 3", "2 sent", "nobody waits", "there is room")) {
      browser().awaitText("#figures", figure);
    }
    browser().awaitTexts("#endpoints tbody th", "one", "three", "two");
    browser().awaitText("#endpoints tbody tr", "in use");
    browser().awaitText("#endpoints tbody tr", " ago");
    browser().awaitText("#queues", "nobody waits");
    browser().awaitTexts("#decisions tbody th", "again", "first");
    browser().awaitText("#decisions tbody tr", "completed");
    browser().awaitText("#shadows tbody tr", "by-load");
    assertThat(browser().text("#config")).contains("In force:", "the 1st since the start");

    browser().click("#decisions tbody tr:first-child a");
    browser().awaitText("#receipt-title", "Request again");
    browser().awaitText("#receipt", "Sent to ");
    assertThat(browser().texts("#receipt .bars-list li")).hasSize(3);
    assertThat(browser().text("#receipt .bars-list li.winner")).contains("got it", " ms");
    assertThat(browser().text("#receipt .bars-list li:last-child"))
        .containsPattern("\\+[\\d,.]+ ms");
    assertThat(browser().text("#receipt .legend"))
        .contains("its own prefill", "prefill that a cache would save");
    assertThat(browser().text("#receipt .facts")).contains("completed", "3,6");
    assertThat(browser().text("#receipt .candidates")).contains("in use");
    assertThat(browser().run("return document.documentElement.innerHTML.includes('rope')"))
        .as("something of a prompt")
        .isEqualTo(false);
    assertThat(browser().complaints()).isEmpty();
  }

  /** A cost is not what decided where it is one of several scores. */
  @Test
  void showsWeightedScoresWhereSeveralDecided() throws Exception {
    GatewayUnderTest pool =
        start(
            "{plugins: [{type: work-cost}, {type: queue-scorer}]}",
            List.of("one", "two"),
            "127.0.0.1",
            0,
            new ConsoleConfig(null));
    ask(pool, "m", "first");
    look(pool);
    browser().awaitText("#decisions tbody tr", "first");
    browser().click("#decisions tbody tr:first-child a");
    browser().awaitText("#receipt", "Sent to ");
    assertThat(browser().text("#receipt .costs figcaption")).contains("Weighted scores");
    assertThat(browser().text("#receipt .legend")).contains("work-cost", "queue-scorer");
    assertThat(browser().complaints()).isEmpty();
  }

  @Test
  void saysWhyNobodyGotARequest() throws Exception {
    GatewayUnderTest pool =
        start(
            "{plugins: [{type: by-label, parameters: {label: tier, validValues: [gold]}}]}",
            List.of("one", "two"),
            "127.0.0.1",
            0,
            new ConsoleConfig(null));
    ask(pool, "m", "nowhere", 429);
    look(pool);
    browser().awaitText("#decisions tbody tr", "nowhere");
    browser().click("#decisions tbody tr:first-child a");
    browser().awaitText("#receipt", "Nobody got it");
    assertThat(browser().text("#receipt .refusal"))
        .contains("one: was rejected by by-label", "two: was rejected by by-label");
    assertThat(browser().complaints()).isEmpty();
  }

  /** Clients that send again may use an id once more. */
  @Test
  void theOlderOfTwoWithOneIdShowsItsOwnReceipt() throws Exception {
    GatewayUnderTest pool = start();
    ask(pool, "m", "same");
    ask(pool, "gone", "same", 404);
    ask(pool, "m", "other");
    look(pool);
    browser().awaitTexts("#decisions tbody th", "other", "same", "same");

    browser().click("#decisions tbody tr:nth-child(3) a");
    browser().awaitText("#receipt .facts", "completed");
    assertThat(browser().text("#receipt-body"))
        .contains("2 requests of this id are kept. This is number 2, and the newest is number 1.");
    browser().click("#receipt-close");
    browser().click("#decisions tbody tr:nth-child(2) a");
    browser().awaitText("#receipt .facts", "gone");
    assertThat(browser().text("#receipt-body")).contains("This is number 1");
    browser().click("#receipt-close");
    browser().click("#decisions tbody tr:nth-child(1) a");
    browser().awaitText("#receipt .facts", "completed");
    assertThat(browser().text("#receipt-body")).doesNotContain("of this id");
    assertThat(browser().complaints()).isEmpty();
  }

  @Test
  void anAnswerThatComesLateIsNotTakenForAnothers() throws Exception {
    GatewayUnderTest pool = start();
    ask(pool, "m", "first");
    ask(pool, "gone", "second", 404);
    look(pool);
    var _ =
        browser()
            .run(
                """
                const ask = window.fetch;
                window.fetch = async (url, options) => {
                  const answer = await ask(url, options);
                  if (!String(url).includes('first')) {
                    return answer;
                  }
                  const page = await answer.json();
                  return new Promise((resolve) => {
                    window.release = () => {
                      resolve({ ok: true, status: 200, json: async () => page });
                      setTimeout(() => { window.released = true; }, 0);
                    };
                  });
                };
                location.hash = '#request=first';
                """);
    await().until(() -> "function".equals(browser().run("return typeof window.release")));
    var _ = browser().run("location.hash = '#request=second';");
    browser().awaitText("#receipt .facts", "gone");
    var _ = browser().run("window.release();");
    await().until(() -> Boolean.TRUE.equals(browser().run("return window.released === true")));
    assertThat(browser().text("#receipt-title")).isEqualTo("Request second");
    assertThat(browser().text("#receipt .facts")).contains("gone");
    assertThat(browser().complaints()).isEmpty();
  }

  @Test
  void whatClientsAndConfigsCallThingsStaysText() throws Exception {
    String evil = "<img src=x onerror=\"document.title=1\">";
    GatewayUnderTest pool =
        start(
            List.of("<b>one</b>", "<script>document.title=2</script>"),
            "127.0.0.1",
            0,
            new ConsoleConfig(null));
    ask(pool, evil, "\"><svg onload=document.title=3>", 404);
    ask(pool, "m", "javascript:document.title=4");
    look(pool);
    browser().awaitText("#decisions", "svg onload");

    assertThat(browser().texts("#decisions tbody th"))
        .containsExactly("javascript:document.title=4", "\"><svg onload=document.title=3>");
    assertThat(browser().texts("#decisions td.model")).contains(evil);
    assertThat(browser().texts("#endpoints tbody th"))
        .containsExactlyInAnyOrder("<b>one</b>", "<script>document.title=2</script>");
    for (int row = 1; row <= 2; row++) {
      browser().click("#decisions tbody tr:nth-child(" + row + ") a");
      browser().awaitText("#receipt .facts", "Outcome");
      browser().click("#receipt-close");
    }
    assertThat(browser().count("main img, main script, main b, dialog img, dialog script"))
        .isZero();
    assertThat(browser().run("return document.title")).isEqualTo("default/test · Fairlead");
    assertThat(browser().complaints()).isEmpty();
  }

  @Test
  void everythingIsReachedByTheKeyboardAlone() throws Exception {
    GatewayUnderTest pool = start();
    ask(pool, "m", "only");
    look(pool);
    browser().awaitText("#decisions tbody tr", "only");

    browser().tab();
    assertThat(browser().focused()).isEqualTo("Skip to the live decisions");
    browser().press(Keys.ENTER);
    browser().awaitFocus("decisions");
    browser().tab();
    assertThat(browser().focused()).isEqualTo("find-id");
    assertThat(browser().run("return getComputedStyle(document.activeElement).outlineStyle"))
        .as("where the focus is can be seen")
        .isEqualTo("solid");
    browser().press("nobody's", Keys.ENTER);
    browser().awaitText("#receipt", "No receipt of a request of this id is kept");
    browser().press(Keys.ESCAPE);
    await().until(() -> browser().focused().equals("find-id"));
    browser().tab();
    assertThat(browser().focused()).isEqualTo("Explain");
    browser().tab();
    assertThat(browser().focused()).isEqualTo("pause");
    browser().press(Keys.SPACE);
    assertThat(browser().text("#pause")).isEqualTo("Go on");
    ask(pool, "m", "later");
    browser().tab();
    assertThat(browser().focused()).as("the list stands still").isEqualTo("only");
    browser().press(Keys.ENTER);
    browser().awaitText("#receipt", "Sent to ");
    browser().press(Keys.ESCAPE);
    await().until(() -> browser().focused().equals("only"));
    assertThat(browser().url()).endsWith("/console/");
    browser().press(Keys.chord(Keys.SHIFT, Keys.TAB));
    browser().press(Keys.SPACE);
    browser().awaitText("#decisions tbody tr", "later");
    assertThat(browser().complaints())
        .as("that nobody's isn't there")
        .allMatch(line -> line.contains("404"));
  }

  @Test
  void saysThatThePickerWentAwayAndComesBackByItself() throws Exception {
    // Of those that the system gives to nobody: another is to have it later.
    int port = FreePort.find();
    GatewayUnderTest pool =
        start(List.of("one", "two", "three"), "127.0.0.1", port, new ConsoleConfig(null));
    look(pool);
    pool.close();
    gateway = null;
    browser().awaitText("#notices", "The picker went away. Retrying");
    browser().awaitText("#notices", "Below is what it told at ");
    browser().awaitText("#link", "Retrying");
    assertThat(browser().texts("#endpoints tbody th")).as("still there").hasSize(3);

    start(List.of("one", "other"), "127.0.0.1", port, new ConsoleConfig(null));
    browser().awaitText("#endpoints", "other");
    browser().awaitText("#link", "Live");
    browser().awaitNothing("#notices");
    browser().awaitTexts("#endpoints tbody th", "one", "other");
  }

  @Test
  void whoComesWhenAsManyLookAsMayIsToldAndGetsInLater() throws Exception {
    GatewayUnderTest pool = start();
    HttpRequest look =
        HttpRequest.newBuilder(URI.create(pool.adminUrl() + "/console/events")).build();
    List<InputStream> others = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      others.add(client.send(look, BodyHandlers.ofInputStream()).body());
    }
    assertThat(client.send(look, BodyHandlers.discarding()).statusCode()).isEqualTo(503);
    browser().open(pool.adminUrl() + "/console/");
    browser().awaitText("#notices", "As many people look at this picker as may");
    for (InputStream other : others) {
      other.close();
    }
    browser().awaitText("#link", "Live");
    browser().awaitNothing("#notices");
  }

  /** A tab that nobody looks at takes nobody's place, and costs the picker nothing. */
  @Test
  void aTabThatIsHiddenHasNoStreamUntilItIsLookedAtAgain() throws Exception {
    GatewayUnderTest pool = start();
    HttpRequest stream =
        HttpRequest.newBuilder(URI.create(pool.adminUrl() + "/console/events")).build();
    List<InputStream> others = new ArrayList<>();
    for (int i = 0; i < 15; i++) {
      others.add(client.send(stream, BodyHandlers.ofInputStream()).body());
    }
    assertThat(room(pool)).as("of one more").isTrue();
    look(pool);
    assertThat(room(pool)).as("the page has it").isFalse();

    browser().hidden(true);
    await().until(() -> room(pool));
    ask(pool, "m", "meanwhile");

    browser().hidden(false);
    browser().awaitText("#decisions tbody tr", "meanwhile");
    browser().awaitText("#link", "Live");
    assertThat(room(pool)).isFalse();
    browser().awaitNothing("#notices");

    // One that was never looked at has never had one.
    browser().open("about:blank");
    await().until(() -> room(pool));
    browser().openHidden(pool.adminUrl() + "/console/");
    assertThat(browser().run("return document.readyState")).isEqualTo("complete");
    assertThat(room(pool)).isTrue();
    browser().hidden(false);
    browser().awaitText("#link", "Live");
    assertThat(room(pool)).isFalse();
    assertThat(others).hasSize(15);
    assertThat(browser().complaints()).isEmpty();
  }

  /** Whether one more may look. */
  private boolean room(GatewayUnderTest pool) throws Exception {
    HttpRequest head =
        HttpRequest.newBuilder(URI.create(pool.adminUrl() + "/console/events")).HEAD().build();
    return client.send(head, BodyHandlers.discarding()).statusCode() == 200;
  }

  @Test
  void whoGuessesTokensMustWait() throws Exception {
    InetAddress address = outside();
    Path token = Files.writeString(temporary.resolve("token"), "the-token-of-the-console\n");
    GatewayUnderTest pool = start(List.of("one"), "0.0.0.0", 0, new ConsoleConfig(token));
    String base = "http://" + address.getHostAddress() + ":" + pool.adminPort();
    for (int i = 0; i < 9; i++) {
      assertThat(show(base, "a guess").statusCode()).as("guess %d", i).isEqualTo(403);
    }
    // The wait may be over before a browser has opened a page, or this machine has stood still.
    await()
        .until(
            () -> {
              browser().open(base + "/console/login");
              browser().type("#token", "the-token-of-the-console");
              await().until(() -> show(base, "a guess").statusCode() == 429);
              var answer = show(base, "the-token-of-the-console");
              if (answer.statusCode() == 200) {
                return false;
              }
              assertThat(answer.statusCode()).as(answer.body()).isEqualTo(429);
              assertThat(answer.headers().firstValueAsLong("retry-after").orElseThrow())
                  .isBetween(1L, 6L);
              browser().press(Keys.ENTER);
              return refused();
            });
    assertThat(browser().complaints()).allMatch(line -> line.contains("429"));
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(500))
        .until(
            () -> {
              browser().open(base + "/console/login");
              browser().type("#token", "the-token-of-the-console");
              browser().press(Keys.ENTER);
              return browser().url().equals(base + "/console/");
            });
    browser().awaitText("#link", "Live");
  }

  /** Whether the page says so, and not that the token was the right one. */
  private boolean refused() {
    await()
        .until(
            () ->
                browser().url().endsWith("/console/") || !browser().text("[role=alert]").isEmpty());
    return browser().text("[role=alert]").contains("Too many wrong tokens. Try again in ");
  }

  private HttpResponse<String> show(String base, String token) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(base + "/debug/status"))
            .header("authorization", "Bearer " + token)
            .build(),
        BodyHandlers.ofString());
  }

  private static InetAddress outside() throws IOException {
    InetAddress address =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(one -> one instanceof Inet4Address && !one.isLoopbackAddress())
            .findFirst()
            .orElse(null);
    Assumptions.assumeTrue(address != null, "this machine has no address but the loopback");
    return Objects.requireNonNull(address);
  }

  @Test
  void showsWhatIsRefusedAndWhatDoesNotAnswer() throws Exception {
    GatewayUnderTest pool = start();
    look(pool);
    browser().awaitText("#config", "In force");
    pool.configure("{plugins: [{type: work-cost, parameters: {omega: -1}}]}", SHADOWS);
    browser().awaitText("#config [role=alert]", "omega");
    assertThat(browser().text("#config [role=alert]"))
        .contains("Refused", "What was in force stays");
    browser().awaitText("#config-note", "a newer one is refused");
    browser().click("#config details:first-of-type summary");
    browser().awaitText("#config pre", "type: \"work-cost\"");
    browser().click("#config details:last-of-type summary");
    browser().awaitText("#config details:last-of-type pre", "omega: -1");

    pool.configure(COST, "[]");
    await().until(() -> browser().count("#config [role=alert]") == 0);
    browser().awaitText("#shadows", "No scheduling is tried beside the one in force");

    pool.kill("two");
    browser().awaitText("#endpoints tr.marked", "refuses connections");
    browser().awaitText("#endpoints tr.marked", "two");
    browser().awaitText("#endpoints tr.marked", "out");
    browser().awaitText("#figures", "2 of 3");
    assertThat(browser().complaints()).isEmpty();
  }

  @Test
  void othersThanThisHostNeedTheToken() throws Exception {
    InetAddress address = outside();
    Path token = Files.writeString(temporary.resolve("token"), "the-token-of-the-console\n");
    GatewayUnderTest pool = start(List.of("one"), "0.0.0.0", 0, new ConsoleConfig(token));
    String base = "http://" + address.getHostAddress() + ":" + pool.adminPort();
    ask(pool, "m", "secret-id");

    browser().open(base + "/console/");
    assertThat(browser().url()).endsWith("/console/login");
    browser().awaitFocus("token");
    browser().type("#token", "something else, and long");
    browser().press(Keys.ENTER);
    browser().awaitText("[role=alert]", "That is not the token");
    assertThat(browser().complaints()).allMatch(line -> line.contains("401"));
    browser().type("#token", "the-token-of-the-console");
    browser().press(Keys.ENTER);
    browser().awaitText("#decisions tbody tr", "secret-id");
    assertThat(browser().url()).isEqualTo(base + "/console/");
    assertThat(browser().run("return document.cookie")).as("no script can read it").isEqualTo("");
    browser().click("#decisions tbody tr a");
    browser().awaitText("#receipt", "Sent to one");
    browser().press(Keys.ESCAPE);
    assertThat(browser().complaints()).isEmpty();

    browser().click("#logout button");
    await().until(() -> browser().url().endsWith("/console/login"));
    browser().open(base + "/console/");
    assertThat(browser().url()).endsWith("/console/login");
  }

  @Test
  void looksAsItShouldOnEveryScreen() throws Exception {
    GatewayUnderTest pool = start();
    for (int i = 0; i < 12; i++) {
      ask(pool, "m", "request-" + i);
    }
    look(pool);
    browser().awaitText("#figures", "12 sent");
    browser().awaitText("#decisions", "request-11");
    await().until(() -> browser().count("#decisions .badge.good") == 12);
    browser().awaitText("#shadows tbody tr", "by-load");
    browser().awaitText("#config", "In force:");
    browser().click("#pause");
    hideCharts();

    SoftAssertions soft = new SoftAssertions();
    for (int width : new int[] {360, 414, 760, 761, 1024, 1340, 1341, 1920}) {
      browser().size(width, 900);
      assertNothingIsWider(soft, width);
    }
    for (int width : new int[] {360, 768, 1440}) {
      for (String scheme : List.of("light", "dark")) {
        browser().prefers(scheme);
        assertLooksLike(soft, "page-" + width + "-" + scheme, () -> browser().picture(width));
        assertNothingIsWider(soft, width);
      }
    }
    browser().prefers("light");
    openAUsualReceipt();
    assertThat(browser().count("#receipt .bars rect"))
        .as("parts of what each of three endpoints would have cost")
        .isGreaterThan(3);
    for (int width : new int[] {360, 1440}) {
      browser().size(width, 1_000);
      soft.assertThat(
              browser()
                  .run(
                      "const it = document.getElementById('receipt');"
                          + " return it.scrollWidth <= it.clientWidth"))
          .as("no part of a receipt is wider than a screen of %s", width)
          .isEqualTo(true);
      assertLooksLike(soft, "receipt-" + width + "-light", () -> browser().visible());
    }
    soft.assertAll();
  }

  /**
   * Their form is chance or goes by how fast the servers answered, and they are drawn again while
   * pictures are taken.
   */
  private void hideCharts() {
    browser()
        .run(
            """
            const sheet = new CSSStyleSheet();
            sheet.replaceSync('.spark, .plot, .course, .bars { visibility: hidden; }');
            document.adoptedStyleSheets = [sheet];
            """);
  }

  /** Of a request that tried no idle server: one in a hundred does, and its receipt says so. */
  private void openAUsualReceipt() {
    for (int row = 1; row <= 12; row++) {
      browser().click("#decisions tbody tr:nth-child(" + row + ") a");
      browser().awaitText("#receipt", "Sent to ");
      if (!browser().text("#receipt").contains("one request in a hundred")) {
        return;
      }
      browser().click("#receipt-close");
    }
    throw new AssertionError("each of twelve requests tried an idle server");
  }

  private void assertNothingIsWider(SoftAssertions soft, int width) {
    soft.assertThat(browser().run("return document.documentElement.scrollWidth"))
        .as("nothing is wider than a screen of %s", width)
        .isEqualTo((long) width);
  }

  /** Else the test above could not fail. */
  @Test
  void aPageThatLacksSomethingDoesNotLookAsItShould() throws Exception {
    GatewayUnderTest pool = start();
    look(pool);
    browser().awaitText("#endpoints", "three");
    browser().awaitText("#figures", "3 of 3");
    browser().awaitText("#shadows tbody tr", "by-load");
    browser().awaitText("#config", "In force:");
    hideCharts();
    browser().prefers("light");
    BufferedImage whole = settled(() -> Likeness.small(browser().picture(1440)));
    assertThat(Likeness.difference(whole, whole)).isZero();
    for (String part : List.of("#figures", "#endpoints-body", "#config")) {
      browser().run("document.querySelector('" + part + "').style.visibility = 'hidden'");
      assertThat(Likeness.difference(whole, Likeness.small(browser().visible())))
          .as("without %s", part)
          .isGreaterThan(TOLERANCE);
      browser().run("document.querySelector('" + part + "').style.visibility = ''");
    }
    browser().run("document.getElementById('endpoints').style.marginTop = '24px'");
    assertThat(Likeness.difference(whole, Likeness.small(browser().visible())))
        .as("what is below is moved")
        .isGreaterThan(TOLERANCE);
    browser().run("document.getElementById('endpoints').style.marginTop = ''");
    assertThat(Likeness.difference(whole, Likeness.small(browser().visible())))
        .as("all is there again")
        .isLessThan(TOLERANCE);
    browser().prefers("dark");
    assertThat(Likeness.difference(whole, Likeness.small(browser().visible()))).isGreaterThan(0.9);
  }

  /** As it looks when it has looked so twice in a row. */
  private static BufferedImage settled(Callable<BufferedImage> look) throws Exception {
    BufferedImage[] last = {look.call()};
    await("it stands still")
        .until(
            () -> {
              BufferedImage before = last[0];
              last[0] = look.call();
              return Likeness.difference(before, last[0]) < TOLERANCE / 3;
            });
    return last[0];
  }

  /**
   * It looks so soon: what a server tells may come while the picture is taken. What was seen last
   * stays in {@code target/console}: copy what is small there over the resources where the page is
   * meant to look different.
   */
  private static void assertLooksLike(
      SoftAssertions soft, String name, Callable<BufferedImage> look) throws Exception {
    BufferedImage picture = look.call();
    long begun = System.nanoTime();
    while (unlike(name, Likeness.small(picture)) >= TOLERANCE
        && System.nanoTime() - begun < SETTLES.toNanos()) {
      picture = look.call();
    }
    Path seen = Files.createDirectories(Path.of("target", "console"));
    BufferedImage small = Likeness.small(picture);
    ImageIO.write(picture, "png", seen.resolve(name + ".png").toFile());
    Path folder = Files.createDirectories(seen.resolve("small"));
    ImageIO.write(small, "png", folder.resolve(name + ".png").toFile());
    soft.assertThat(unlike(name, small))
        .as("share of %s that looks different from what it should look like", name)
        .isLessThan(TOLERANCE);
  }

  private static double unlike(String name, BufferedImage small) throws IOException {
    try (var wanted = ConsoleIT.class.getResourceAsStream("console/" + name + ".png")) {
      return wanted == null ? 1 : Likeness.difference(ImageIO.read(wanted), small);
    }
  }

  private void ask(GatewayUnderTest pool, String model, String id) throws Exception {
    ask(pool, model, id, 200);
  }

  private void ask(GatewayUnderTest pool, String model, String id, int status) throws Exception {
    var answer =
        client.send(
            HttpRequest.newBuilder(URI.create(pool.url() + "/v1/completions"))
                .header("content-type", "application/json")
                .header("x-request-id", id)
                .timeout(Duration.ofSeconds(60))
                .POST(
                    BodyPublishers.ofString(
                        "{\"model\": \"%s\", \"max_tokens\": 4, \"prompt\": \"%s\"}"
                            .formatted(model.replace("\"", "\\\""), ROPE)))
                .build(),
            BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
  }
}
