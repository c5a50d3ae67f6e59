package io.fairlead.cli;

import static org.awaitility.Awaitility.await;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;

/** A headless Chromium, and what a person sees in it. */
final class Browser implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** It misses classes for a browser's newest protocol, of which nothing here is used. */
  private static final Logger VERSIONS =
      Logger.getLogger("org.openqa.selenium.devtools.CdpVersionFinder");

  private static final String HIDDEN =
      "Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s});";

  private final ChromeDriver driver;

  /**
   * Starts that of the properties {@code fairlead.chromium} and {@code fairlead.chromedriver}, or
   * where these say nothing Debian's.
   *
   * @param profile an empty folder
   */
  Browser(Path profile) {
    String program = System.getProperty("fairlead.chromium", "/usr/bin/chromium");
    String server = System.getProperty("fairlead.chromedriver", "/usr/bin/chromedriver");
    VERSIONS.setLevel(Level.SEVERE);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(program);
    options.addArguments(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--force-device-scale-factor=1",
        "--lang=en-GB",
        "--user-data-dir=" + profile);
    options.setCapability("goog:loggingPrefs", Map.of(LogType.BROWSER, Level.ALL.getName()));
    driver =
        new ChromeDriver(
            new ChromeDriverService.Builder()
                .usingDriverExecutable(new File(server))
                .usingAnyFreePort()
                .build(),
            options);
    size(1440, 900);
  }

  /** Of the window's inside, also one that no window can be made as narrow as. */
  void size(int width, int height) {
    var _ =
        driver.executeCdpCommand(
            "Emulation.setDeviceMetricsOverride",
            Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  /** What the person likes. */
  void prefers(String scheme) {
    var _ =
        driver.executeCdpCommand(
            "Emulation.setEmulatedMedia",
            Map.of(
                "features",
                List.of(
                    Map.of("name", "prefers-color-scheme", "value", scheme),
                    Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
  }

  void open(String url) {
    driver.get(url);
  }

  /**
   * Has the page believe that nobody can see it, or somebody can again: a browser without a window
   * shows all of its tabs.
   */
  void hidden(boolean hidden) {
    run(HIDDEN.formatted(hidden) + "document.dispatchEvent(new Event('visibilitychange'));");
  }

  /** Opens a page that believes from its first moment on that nobody can see it. */
  void openHidden(String url) {
    var _ =
        driver.executeCdpCommand(
            "Page.addScriptToEvaluateOnNewDocument", Map.of("source", HIDDEN.formatted(true)));
    open(url);
  }

  String url() {
    return String.valueOf(driver.getCurrentUrl());
  }

  /** What can be read there; empty where there is no such element, or it can't be seen. */
  String text(String selector) {
    try {
      return driver.findElements(By.cssSelector(selector)).stream()
          .filter(WebElement::isDisplayed)
          .map(WebElement::getText)
          .findFirst()
          .orElse("");
    } catch (StaleElementReferenceException e) {
      return ""; // it has just been made anew
    }
  }

  /** The same, of each such element. */
  List<String> texts(String selector) {
    try {
      return driver.findElements(By.cssSelector(selector)).stream()
          .map(WebElement::getText)
          .toList();
    } catch (StaleElementReferenceException e) {
      return List.of();
    }
  }

  int count(String selector) {
    return driver.findElements(By.cssSelector(selector)).size();
  }

  /** Waits until this can be read there. */
  void awaitText(String selector, String part) {
    await(selector + " says " + part)
        .atMost(PATIENCE)
        .until(() -> text(selector), text -> text.contains(part));
  }

  void click(String selector) {
    await(selector + " can be clicked")
        .atMost(PATIENCE)
        .ignoreException(StaleElementReferenceException.class) // it has just been made anew
        .until(
            () -> {
              driver.findElement(By.cssSelector(selector)).click();
              return true;
            });
  }

  void type(String selector, String text) {
    driver.findElement(By.cssSelector(selector)).sendKeys(text);
  }

  /** Goes to whatever has the focus. */
  void press(CharSequence... keys) {
    driver.switchTo().activeElement().sendKeys(keys);
  }

  void tab() {
    press(Keys.TAB);
  }

  /** Waits until it has the focus. */
  void awaitFocus(String it) {
    await(it + " has the focus").atMost(PATIENCE).until(() -> focused().equals(it));
  }

  /** Waits until nothing can be read there. */
  void awaitNothing(String selector) {
    await(selector + " says nothing").atMost(PATIENCE).until(() -> text(selector).isEmpty());
  }

  /** Waits until these can be read there, and no more. */
  void awaitTexts(String selector, String... all) {
    await(selector + " says " + List.of(all))
        .atMost(PATIENCE)
        .until(() -> texts(selector), List.of(all)::equals);
  }

  /** What has the focus: its id, or else its text. */
  String focused() {
    return String.valueOf(
        run("const it = document.activeElement; return it.id || it.textContent.trim();"));
  }

  @Nullable Object run(String script) {
    return driver.executeScript(script);
  }

  /** What the browser complained of since it was asked last. */
  List<String> complaints() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
        .map(LogEntry::getMessage)
        .toList();
  }

  /** What is to be seen of the whole page, from its top to its end. */
  BufferedImage picture(int width) throws IOException {
    size(width, 900);
    Number height =
        (Number) run("return Math.ceil(document.documentElement.getBoundingClientRect().height)");
    size(width, height == null ? 900 : Math.max(600, height.intValue()));
    return visible();
  }

  /** What is to be seen in the window. */
  BufferedImage visible() throws IOException {
    return ImageIO.read(new ByteArrayInputStream(driver.getScreenshotAs(OutputType.BYTES)));
  }

  @Override
  public void close() {
    driver.quit();
  }
}
