#!/bin/sh
# kcachegrind.sh GRAPH FUNCTION TEXT: opens a call graph in KCachegrind on a screen of its own, selects a function and
# waits until TEXT is on the screen. Leaves picture.png, and the words on it in words.txt. To be run by dbus-run-session
# in a directory of its own.
set -u
mkdir -m 700 home runtime screen
printf '[TipOfDay]\nRunOnStart=false\n' >home/kcachegrindrc
HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home XDG_RUNTIME_DIR=$PWD/runtime LC_ALL=C.UTF-8
export HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR LC_ALL

# shows TEXT: waits up to half a minute for words on the screen.
shows() {
    tries=0
    while [ $tries -lt 15 ]; do
        sleep 1
        # Three times as large, words are read without mistakes.
        xwdtopnm screen/Xvfb_screen0 2>/dev/null | pnmscale 3 >picture.ppm 2>/dev/null
        tesseract picture.ppm words --psm 11 >tesseract.log 2>&1
        grep -q "$1" words.txt && return 0
        tries=$((tries + 1))
    done
    return 1
}

Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -fbdir screen 3>display 2>xvfb.log &
xvfb=$!
while [ ! -s display ] && kill -0 $xvfb; do sleep 0.1; done
DISPLAY=:$(cat display)
export DISPLAY
kcachegrind "$1" >kcachegrind.log 2>&1 &
reader=$!
window=$(timeout 60 xdotool search --sync --onlyvisible --class kcachegrind | head -n 1)
xdotool windowsize --sync "$window" 1600 1000
shows Search && xdotool mousemove 200 90 click 1 type --delay 50 "$2" && xdotool key Return && shows "$3"
pnmtopng picture.ppm >picture.png 2>/dev/null
kill $reader $xvfb
