# The life of the .deb on a machine with systemd. Each command must succeed. tests/packages/machine.sh runs it.

settings=/etc/portcullis/portcullis.env
url=http://127.0.0.1:8080

# Returns when the service is ready, and fails if it ends before.
ready() {
    until curl --silent --fail --output /dev/null "$url/healthz/ready"; do
        systemctl is-active --quiet portcullis
        sleep 0.1
    done
}

main_process() {
    systemctl show --property MainPID --value portcullis
}

# Installed, and not started: it has no settings yet.
dpkg --install /scenario/portcullis.deb
test "$(stat --format '%U:%G %a' $settings)" = 'root:portcullis 640'
test "$(stat --format '%U:%G %a' /var/lib/portcullis)" = 'portcullis:portcullis 700'
test "$(systemctl is-enabled portcullis)" = disabled
test "$(systemctl is-active portcullis)" = inactive
dpkg --verify portcullis
man portcullis-keys-create | grep --quiet 'Create a service API key'
bash -c 'source /usr/share/bash-completion/completions/portcullis; complete -p portcullis'
systemd-analyze verify /usr/lib/systemd/system/portcullis.service
systemd-analyze security --threshold=20 portcullis

# A person uses the command, up to the first decision, and leaves nothing but the folder.
mkdir /tmp/first
cd /tmp/first
portcullis init acme --resource document:read,write
portcullis test acme | tail -n 1 | grep --quiet '8 passed, 0 failed'
portcullis check --dir acme alice write document:write | grep --quiet 'decision  allow'
portcullis dev acme --port 8099 >dev.log 2>&1 &
dev=$!
until grep --quiet '^Ctrl-C' dev.log; do sleep 0.1; done
portcullis check --url http://127.0.0.1:8099 --token "$(curl --silent 'http://127.0.0.1:8099/dev/token?user=alice')" \
    alice write document:write | grep --quiet 'decision  allow'
kill $dev
wait $dev
cd /

# The log of the service, shown when the scenario fails.
mkdir /etc/systemd/system/portcullis.service.d
printf '[Service]\nStandardOutput=append:/scenario/log\nStandardError=append:/scenario/log\n' \
    >/etc/systemd/system/portcullis.service.d/log.conf
systemctl daemon-reload

# Without settings it ends with exit code 2, and systemd does not try again.
systemctl start portcullis
until test "$(systemctl is-active portcullis)" = failed; do sleep 0.1; done
test "$(systemctl show --property ExecMainStatus --value portcullis)" = 2
test "$(systemctl show --property NRestarts --value portcullis)" = 0

# With settings it serves.
echo "ENCRYPTION_KEY=$(openssl rand -base64 32)" >>$settings
echo 'OIDC_ENABLED=false' >>$settings
systemctl enable portcullis
systemctl start portcullis
ready

# The sandbox holds, and the service works in it: the compiler of resolvers limits itself and makes executable code.
status=/proc/$(main_process)/status
grep --quiet 'Seccomp:	2' "$status"
grep --quiet 'NoNewPrivs:	1' "$status"
grep --quiet 'CapEff:	0000000000000000' "$status"
key=$(runuser --user portcullis -- portcullis keys create --create-tenant --tenant acme --name test --env-file $settings | tail -n 1)
# A busy machine compiles longer than a request waits: 503.
curl --silent --show-error --fail-with-body --retry 30 --retry-delay 1 --header "X-Service-Api-Key: $key" \
    --form 'manifest={"namespace": "directory", "config": {"department": "obstetrics"}}' \
    --form 'module=@/scenario/module.wasm' "$url/api/v1/resolvers"

# An upgrade keeps the settings, the data and the user, and restarts the service with the new binary.
before=$(main_process)
cp $settings /tmp/settings
dpkg --install /scenario/next.deb
cmp $settings /tmp/settings
ready
test "$(main_process)" != "$before"
curl --silent --fail --header "X-Service-Api-Key: $key" "$url/api/v1/resolvers" | grep --quiet obstetrics

# A removal stops the service and keeps settings and data.
dpkg --remove portcullis
test "$(systemctl is-active portcullis)" = inactive
test ! -e /usr/bin/portcullis
test -s $settings
test -s /var/lib/portcullis/portcullis.db

# A purge leaves nothing.
dpkg --purge portcullis
test ! -e /etc/portcullis
test ! -e /var/lib/portcullis
test -z "$(getent passwd portcullis)"
echo 'nothing is left'
