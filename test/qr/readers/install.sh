#!/usr/bin/env bash
# Installs the readers that are no part of the product into a folder: OpenCV from PyPI, quirc as npm ships its source,
# and ZXing for Java from Maven. ZBar comes with Debian's zbar-tools. Needs python3-venv, gcc, npm, Maven and a JDK.
set -euo pipefail
folder=$1
mkdir -p "$folder"
cd "$folder"

[ -x python/bin/python ] || python3 -m venv python
python/bin/python -c 'import cv2' 2>/dev/null || python/bin/pip install -q 'opencv-python-headless==4.13.*'

if [ ! -f libquirc.so ]; then
  npm pack --silent node-quirc@2.3.0 >/dev/null
  tar xzf node-quirc-2.3.0.tgz
  gcc -O2 -shared -fPIC -o libquirc.so package/deps/quirc/*.c -lm
  rm -r package node-quirc-2.3.0.tgz
fi

if [ ! -f zxing.jar ]; then
  mvn -q -B dependency:copy -Dartifact=com.google.zxing:core:3.5.3 -DoutputDirectory=. -Dmdep.stripVersion=true
  mv core.jar zxing.jar
fi
