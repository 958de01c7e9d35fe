#!/usr/bin/env bash
# Bring a machine to the state that Switchbox needs, and say what is done on the way. Idempotent; half a second when all
# is there.
#
#   scripts/host-setup.sh           a Docker engine that answers, compose v2, buildx, the base images, python3 and make
#   scripts/host-setup.sh --tests   a browser for the tests as well
#
# An engine and images that are there are used as they are. What is missing is installed on Debian and Ubuntu, as root or
# by sudo; elsewhere the script says what to install. Base images are pulled where an image registry answers; where none
# does, a Debian machine makes stand-ins of the same name from Debian's packages, with this machine's CA bundle in them.
# No mirror is named here: they come from the machine's own apt sources.
set -euo pipefail

readonly PYTHON_IMAGE=python:3.13-slim-trixie REDIS_IMAGE=redis:8 NODE_IMAGE=node:20-trixie-slim
readonly STAND_IN_SUITE=trixie
readonly PLUGINS=/usr/libexec/docker/cli-plugins
readonly DOCKERD_PID=/run/switchbox-dockerd.pid DOCKERD_LOG=/var/log/switchbox-dockerd.log
readonly KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
export DEBIAN_FRONTEND=noninteractive

WITH_BROWSER=
DOCKER=(docker)
SUDO=()
WORK=

main() {
    [ "${1:-}" != --tests ] || WITH_BROWSER=1
    if everything_there; then return 0; fi
    one_at_a_time
    WORK=$(mktemp -d)
    trap 'rm -rf "$WORK"' EXIT
    ensure_python_and_make
    ensure_engine
    ensure_plugins
    ensure_images
    [ -z "$WITH_BROWSER" ] || ensure_browser
    ensure_yours
    say 'ready'
}

say() { printf 'host-setup: %s\n' "$*"; }
fail() {
    printf 'host-setup: %s\n' "$@" >&2
    exit 1
}

# --- what is there -----------------------------------------------------------------------------------------------------

everything_there() {
    python_fits && command -v make >/dev/null && plugins_answer &&
        docker image inspect "$PYTHON_IMAGE" "$REDIS_IMAGE" "$NODE_IMAGE" >/dev/null 2>&1 &&
        { [ -z "$WITH_BROWSER" ] || browser_there; }
}
python_fits() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
plugins_answer() { docker compose version >/dev/null 2>&1 && docker buildx version >/dev/null 2>&1; }
engine_answers() { "${DOCKER[@]}" info >/dev/null 2>&1; }
image_there() { "${DOCKER[@]}" image inspect "$1" >/dev/null 2>&1; }
browser_there() { command -v chromium >/dev/null; }
installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

distribution() { ( . /etc/os-release 2>/dev/null && printf '%s' "${ID:-}" ) || true; }
suite() { ( . /etc/os-release 2>/dev/null && printf '%s' "${VERSION_CODENAME:-}" ) || true; }
apt_machine() { case $(distribution) in debian | ubuntu) command -v apt-get >/dev/null ;; *) false ;; esac }

# Two runs at the same time would install over each other.
one_at_a_time() {
    command -v flock >/dev/null || return 0
    exec 9>"${TMPDIR:-/tmp}/switchbox-host-setup-$(id -u).lock"
    flock -w 600 9 || fail 'another run has been at work for ten minutes: look at it first'
}

# --- installing --------------------------------------------------------------------------------------------------------

become_root() {
    [ "$(id -u)" != 0 ] || return 0
    command -v sudo >/dev/null || fail 'this needs root rights and there is no sudo: run scripts/host-setup.sh once as root'
    [ "${#SUDO[@]}" != 0 ] || say 'asking sudo for the rights to install'
    SUDO=(sudo)
}

# Mirrors drop out for minutes now and then.
retry() {
    local pause
    for pause in 3 10 25 60 0; do
        "$@" && return 0
        [ "$pause" != 0 ] || return 1
        say "failed: ${*: -1}; again in $pause s"
        sleep "$pause"
    done
}

apt() { "${SUDO[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o Acquire::http::Timeout=30 "$@" </dev/null; }

UPDATED=
apt_update() {
    [ -n "$UPDATED" ] || retry apt update >"$WORK/apt.log" 2>&1 || { tail -5 "$WORK/apt.log" >&2; fail 'the package lists could not be fetched'; }
    UPDATED=1
}
install_packages() {
    local missing=() package
    for package in "$@"; do installed "$package" || missing+=("$package"); done
    [ "${#missing[@]}" != 0 ] || return 0
    apt_machine || fail "install these and run this again: ${missing[*]}"
    become_root
    apt_update
    say "installing ${missing[*]}"
    retry apt install -y --no-install-recommends "${missing[@]}" >"$WORK/apt.log" 2>&1 ||
        { tail -15 "$WORK/apt.log" >&2; fail "could not install ${missing[*]}"; }
}
candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" {sub(/^[0-9]+:/, "", $2); print $2}'; }

ensure_python_and_make() {
    command -v make >/dev/null || install_packages make
    python_fits || { apt_machine && install_packages python3 python3-venv python3-pip; } || true
    python_fits || fail 'Python 3.11 or newer with its venv module is needed: install it, so that `python3` starts it'
}

# --- the engine --------------------------------------------------------------------------------------------------------

ensure_engine() {
    if ! command -v docker >/dev/null || { ! engine_answers && ! command -v dockerd >/dev/null && apt_machine; }; then
        apt_machine || fail 'install Docker with compose v2 (Docker Desktop, or your distribution'"'"'s packages), start it, and run this again'
        become_root
        apt_update
        # In newer releases the client is a package of its own.
        install_packages docker.io iptables ca-certificates $([ -z "$(candidate docker-cli)" ] || echo docker-cli)
    fi
    engine_answers && return 0
    command -v dockerd >/dev/null || fail 'the Docker engine does not answer: start Docker (or set DOCKER_HOST) and run this again'
    become_root
    DOCKER=("${SUDO[@]}" docker)
    engine_answers || start_engine
}

start_engine() {
    say 'starting the Docker engine'
    if [ -d /run/systemd/system ]; then
        "${SUDO[@]}" systemctl enable --now docker >/dev/null 2>&1 || fail 'systemctl could not start docker: see `journalctl -u docker`'
    else
        # No service manager: in a session of its own, so that it outlives this shell. Whoever started it can stop it by its pid.
        "${SUDO[@]}" sh -c "exec 9>&-; setsid nohup dockerd --pidfile $DOCKERD_PID >$DOCKERD_LOG 2>&1 </dev/null &"
    fi
    local _
    for _ in $(seq 120); do
        engine_answers && return 0
        sleep 0.5
    done
    "${SUDO[@]}" tail -20 "$DOCKERD_LOG" >&2 || true
    fail 'the Docker engine did not start within a minute'
}

ensure_plugins() {
    plugins_answer && return 0
    apt_machine || fail 'install the compose v2 and buildx plugins of Docker and run this again'
    become_root
    apt_update
    local compose=
    # Ubuntu's name for compose v2, else Debian's, which was version 1 up to Debian 12.
    [ -z "$(candidate docker-compose-v2)" ] || compose=docker-compose-v2
    case $(candidate docker-compose) in [2-9].* | [1-9][0-9].*) compose=${compose:-docker-compose} ;; esac
    if [ -n "$compose" ] && [ -n "$(candidate docker-buildx)" ]; then
        install_packages "$compose" docker-buildx
    else
        plugins_from_next_release
    fi
    plugins_answer || fail 'docker compose or docker buildx still does not answer'
}

# The plugins are single Go binaries: taken out of the next release's packages they run on this one, and nothing else of
# that release gets onto the machine. apt checks the packages' signatures as ever.
plugins_from_next_release() {
    [ "$(distribution)" = debian ] || fail 'this release has no compose v2: install the compose and buildx plugins of Docker and run this again'
    say "taking compose v2 and buildx out of the packages of $STAND_IN_SUITE"
    local apt_folder=$WORK/apt options
    mkdir -p "$apt_folder/lists/partial" "$apt_folder/cache/archives/partial" "$apt_folder/out"
    stand_in_source >"$apt_folder/sources.list"
    options=(-o "Dir::Etc::SourceList=$apt_folder/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$apt_folder/lists"
        -o "Dir::Cache=$apt_folder/cache" -o APT::Sandbox::User=root)
    retry apt "${options[@]}" update || fail "the package lists of $STAND_IN_SUITE could not be fetched"
    (cd "$apt_folder" && retry apt "${options[@]}" download docker-compose docker-buildx >/dev/null) || fail 'the plugins could not be fetched'
    local package plugin
    for package in "$apt_folder"/docker-*.deb; do dpkg-deb -x "$package" "$apt_folder/out"; done
    for plugin in docker-compose docker-buildx; do
        "${SUDO[@]}" install -D -m 0755 "$apt_folder/out$PLUGINS/$plugin" "$PLUGINS/$plugin"
    done
    "${SUDO[@]}" rm -rf "$apt_folder"
}

# A user who cannot reach the engine gets a sentence, not the docker group: that group is as good as root.
ensure_yours() {
    docker info >/dev/null 2>&1 && return 0
    fail "everything is there, but user $(id -un) may not use Docker. Either run make by sudo, or join the group that may" \
        "(it is as good as root): sudo usermod -aG docker $(id -un), and log in again."
}

# --- base images -------------------------------------------------------------------------------------------------------

REGISTRY=unknown
ensure_images() {
    local image missing=()
    for image in "$PYTHON_IMAGE" "$REDIS_IMAGE" "$NODE_IMAGE"; do
        image_there "$image" || pull "$image" || missing+=("$image")
    done
    [ "${#missing[@]}" = 0 ] || make_stand_ins "${missing[@]}"
}

# Give a registry 15 seconds to begin to answer, and ten minutes to finish.
pull() {
    [ "$REGISTRY" != absent ] || return 1
    say "pulling $1"
    local log=$WORK/pull.log pid second
    "${DOCKER[@]}" pull "$1" >"$log" 2>&1 &
    pid=$!
    for second in $(seq 600); do
        kill -0 "$pid" 2>/dev/null || break
        [ "$second" -lt 15 ] || grep -q 'Pulling from' "$log" || { kill "$pid" 2>/dev/null || true; break; }
        sleep 1
    done
    kill "$pid" 2>/dev/null || true
    if wait "$pid" 2>/dev/null; then REGISTRY=there; return 0; fi
    [ "$REGISTRY" = there ] || REGISTRY=absent
    say "no image registry gave $1"
    return 1
}

make_stand_ins() {
    [ "$(distribution)" = debian ] || fail "no image registry answers, and stand-ins can be made on Debian only. Bring these images here (docker save, docker load): $*"
    install_packages mmdebstrap debian-archive-keyring ca-certificates
    become_root
    local image pids=() pid
    for image in "$@"; do
        say "making $image from the packages of $STAND_IN_SUITE"
        stand_in "$image" &
        pids+=("$!")
    done
    for pid in "${pids[@]}"; do wait "$pid" || fail 'a base image could not be made'; done
}

stand_in() {
    local image=$1 packages changes log
    log=$WORK/$(printf '%s' "$image" | tr ':/' '--').log
    changes=('--change=LABEL switchbox.stand-in=debian' '--change=ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt')
    case $image in
    "$PYTHON_IMAGE")
        packages=python3,python3-venv,python3-pip
        changes+=('--change=ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt' '--change=CMD ["python3"]')
        ;;
    "$REDIS_IMAGE")
        packages=redis-server,redis-tools
        changes+=('--change=EXPOSE 6379' '--change=CMD ["redis-server"]')
        ;;
    "$NODE_IMAGE")
        packages=nodejs,npm
        changes+=('--change=ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' '--change=CMD ["node"]')
        ;;
    esac
    retry build_stand_in "$packages" "$log" "$image" || { tail -15 "$log" >&2; return 1; }
}

# Uses `changes` of its caller. As in the official slim images, documentation and translations are left out, and packages
# that a build installs are not synced to disk one by one.
build_stand_in() {
    local packages=$1 log=$2 image=$3
    "${SUDO[@]}" mmdebstrap --quiet --variant=minbase --include="ca-certificates,$packages" \
        --aptopt='Acquire::Retries "3"' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        --customize-hook="cp '$(ca_bundle)' \"\$1/etc/ssl/certs/ca-certificates.crt\"" \
        --customize-hook='[ ! -e "$1/usr/bin/python3" ] || ln -sf python3 "$1/usr/bin/python"' \
        --customize-hook='rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED' \
        --customize-hook='echo force-unsafe-io > "$1/etc/dpkg/dpkg.cfg.d/docker-apt-speedup"' \
        "$STAND_IN_SUITE" - "$(stand_in_source)" 2>"$log" </dev/null |
        "${DOCKER[@]}" import "${changes[@]}" - "$image" >/dev/null 2>>"$log"
}

# The bundle this machine's own programs are told to use; builds inside the images need the same.
ca_bundle() {
    local file
    for file in "${BUILD_CA:-}" "${SSL_CERT_FILE:-}" "${CURL_CA_BUNDLE:-}" "${REQUESTS_CA_BUNDLE:-}" /etc/ssl/certs/ca-certificates.crt; do
        [ -f "$file" ] && [ -s "$file" ] && { printf '%s' "$file"; return 0; }
    done
    fail 'no CA bundle was found'
}

stand_in_source() {
    local mirror
    mirror=$(mirror_of "$(suite)")
    [ -n "$mirror" ] || fail "no Debian mirror for $(suite) stands in this machine's apt sources"
    printf 'deb [signed-by=%s] %s %s main\n' "$KEYRING" "$mirror" "$STAND_IN_SUITE"
}

# The first mirror in the apt sources whose suites name the given one: deb822 (.sources) or one line each (.list).
mirror_of() {
    local folder=${APT_SOURCES:-/etc/apt}
    {
        { cat "$folder"/sources.list.d/*.sources 2>/dev/null || true; } | sed 's/^[[:space:]]*$//' | awk -v suite="$1" 'BEGIN {RS = ""; FS = "\n"} {
            uri = ""; found = 0; off = 0; field = ""
            for (i = 1; i <= NF; i++) {
                if ($i ~ /^#/) continue
                if ($i ~ /^[A-Za-z-]+:/) {field = tolower($i); sub(/:.*/, "", field); sub(/^[^:]*:/, "", $i)}
                if (field == "enabled" && $i ~ /no/) off = 1
                n = split($i, words, /[ \t]+/)
                for (w = 1; w <= n; w++) {
                    if (field == "uris" && uri == "" && words[w] ~ /^(https?|file):/) uri = words[w]
                    if (field == "suites" && words[w] == suite) found = 1
                }
            }
            if (found && !off && uri != "") print uri
        }'
        { cat "$folder"/sources.list "$folder"/sources.list.d/*.list 2>/dev/null || true; } | awk -v suite="$1" '$1 == "deb" {
            for (i = 3; i <= NF; i++) if ($i == suite && $(i - 1) ~ /^(https?|file):/) print $(i - 1)
        }'
    } | awk 'NR == 1'
}

# --- the browser of the tests ------------------------------------------------------------------------------------------

ensure_browser() {
    browser_there && return 0
    [ "$(distribution)" = debian ] || fail 'the browser tests need a `chromium` command: install Chromium and run this again'
    install_packages chromium fonts-dejavu-core fonts-liberation
}

[ -n "${HOST_SETUP_LIBRARY:-}" ] || main "$@"
