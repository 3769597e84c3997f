# Stops the servers of a test run when the runner's process ($1) is gone, and removes its directories: that of
# the run ($2) and that of the clusters ($3).
# A test may have been given a PATH without the tools.
PATH=$PATH:/usr/bin:/bin
trap '' HUP INT TERM
while kill -0 "$1"; do sleep 1; done
# More than once, if need be: a test that outlived the runner may be starting a server at this moment.
while [ -e "$2" ] || [ -e "$3" ]; do
    for file in "$3"/*/data/postmaster.pid; do
        [ -e "$file" ] && kill -QUIT "$(head -n 1 "$file")"
    done
    sleep 1
    rm -rf "$2" "$3"
done
