# shellcheck shell=bash
# Sourced by every command in this folder: the checkout, the cache, messages, the JDK, and what a fresh machine lacks.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # used by the commands
CACHE=${FAIRLEAD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fairlead}
# Where iptables and friends are on Debian when a plain user's PATH is inherited.
PATH=$PATH:/usr/sbin:/sbin

note() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
fail() {
  note "$*"
  exit 1
}

# usage: prints the block of comments at the top of the calling script.
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"; }

# locked FILE: from here to the end of this shell, one process at a time (does nothing where flock is missing: macOS).
locked() {
  mkdir -p "$(dirname "$1")"
  exec 8>"$1"
  if command -v flock >/dev/null; then flock 8; fi
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# debian_install PACKAGE...: quiet unless it fails. Services that packages would start stay off: scripts here start what they need.
debian_install() {
  local log
  log=$(mktemp)
  note "installing $*"
  apt_install "$@" >"$log" 2>&1 || {
    apt-get -o DPkg::Lock::Timeout=300 update >>"$log" 2>&1 && apt_install "$@" >>"$log" 2>&1
  } || {
    cat "$log" >&2
    rm -f "$log"
    fail "apt-get could not install: $*"
  }
  rm -f "$log"
}
apt_install() {
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

# need THING:PACKAGE...: THING is a command or a file. What is missing is installed by root on Debian, else named.
need() {
  local item thing missing=()
  for item; do
    thing=${item%%:*}
    command -v "$thing" >/dev/null || [ -e "$thing" ] || missing+=("${item##*:}")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  can_install || fail "missing: ${missing[*]} (Debian's package names; as root on Debian this command installs them itself)"
  debian_install "${missing[@]}"
}

is_jdk25() { [ -x "$1/bin/javac" ] && grep -q '^JAVA_VERSION="25[.+"]' "$1/release" 2>/dev/null; }

# Prints the home of a JDK 25.
find_jdk25() {
  local home java
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/* "${SDKMAN_DIR:-$HOME/.sdkman}"/candidates/java/* "$HOME"/.jdks/*; do
    if is_jdk25 "$home"; then
      echo "$home"
      return
    fi
  done
  if [ -x /usr/libexec/java_home ] && home=$(/usr/libexec/java_home -v 25 2>/dev/null) && is_jdk25 "$home"; then
    echo "$home"
    return
  fi
  if java=$(command -v java) && java=$(readlink -f "$java") && home=${java%/bin/java} && is_jdk25 "$home"; then
    echo "$home"
    return
  fi
  return 1
}

# use_jdk25: exports JAVA_HOME.
use_jdk25() {
  local home
  if ! home=$(find_jdk25); then
    if can_install && apt-cache policy openjdk-25-jdk-headless 2>/dev/null | grep -q 'Candidate: [0-9]'; then
      debian_install openjdk-25-jdk-headless
    fi
    home=$(find_jdk25) || fail "no JDK 25 found (looked at JAVA_HOME, /usr/lib/jvm, SDKMAN, ~/.jdks, macOS, PATH). \
Install one, such as Eclipse Temurin 25 (https://adoptium.net/installation; 'sdk install java 25-tem'; 'brew install openjdk@25'), or set JAVA_HOME to it"
  fi
  export JAVA_HOME=$home
}

# maven ARG...: on the JDK 25 from the root of the checkout, the caller's folder stays.
maven() {
  use_jdk25
  need mvn:maven
  MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}" mvn -B -Dstyle.color=never -f "$ROOT/pom.xml" "$@" </dev/null
}

# package_module MODULE: builds the jar of MODULE (and target/lib, its run-time class path) when a source is newer than the last build.
# Folders count too: their time changes when a file in them is deleted. One build at a time: each writes into the modules that others are of.
package_module() (
  module=$1 stamp=$ROOT/$1/target/.packaged
  locked "$ROOT/target/.fairlead.lock"
  if [ -f "$stamp" ] && [ -z "$(cd "$ROOT" && find pom.xml crds "${module%%/*}" \( -name target -o -path '*/src/test' \) -prune \
    -o -newer "$stamp" \( -path '*/src/main*' -o -path '*/manifests*' -o -name pom.xml \) -print -quit)" ]; then
    exit
  fi
  note "building $module (some seconds when little has changed)"
  mkdir -p "$ROOT/$module/target"
  began=$(mktemp "$ROOT/$module/target/.began.XXXX")
  rm -rf "$ROOT/$module/target/lib"
  maven -q package -Dmaven.test.skip=true -Dspotless.check.skip=true -pl "$module" -am >&2 || {
    rm -f "$began"
    fail "the build failed"
  }
  mv "$began" "$stamp"
)

# train_jvm NAME CACHE JAVA [OPTION...]: writes CACHE, the AOT cache with what a JVM loads and learns while it works as the program of the image
# NAME. JAVA runs it, with the options and the class path that the cache is for.
train_jvm() (
  name=$1 cache=$2
  shift 2
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  case $name in
    dataplane) program=(io.fairlead.cli.Fairlead train) ;;
    operator)
      # A key for the API server that it is trained with. It is used by nothing else, and is in no image.
      "$JAVA_HOME/bin/keytool" -genkeypair -alias training -keyalg EC -storetype PKCS12 -keystore "$work/keys.p12" -storepass training \
        -dname CN=localhost -validity 2 >/dev/null 2>&1 || fail "keytool made no key"
      program=(io.fairlead.operator.FairleadOperator --leader-elect=false --port 0 train --keys "$work/keys.p12")
      ;;
  esac
  note "training the JVM of $name for its AOT cache"
  "$@" "-XX:AOTCacheOutput=$cache" "${program[@]}" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the training run failed"; }
  [ -s "$cache" ] || { cat "$work/log" >&2; fail "the training run left no cache"; }
)

# class_path MODULE: its jar and target/lib.
class_path() {
  local jar
  for jar in "$ROOT/$1"/target/fairlead*.jar; do
    case $jar in *-tests.jar | *-sources.jar | *-javadoc.jar) ;; *)
      echo "$jar:$ROOT/$1/target/lib/*"
      return
      ;;
    esac
  done
  fail "no jar in $1/target"
}
