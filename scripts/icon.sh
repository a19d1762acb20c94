#!/usr/bin/env bash
# Draws images/icon.png with ImageMagick: the Plimsoll mark, a ring with a horizontal line, above the water.
set -euo pipefail
cd "$(dirname "$0")/.."

# Drawn at four times the size, then reduced, so that the edges are smooth.
/usr/bin/convert -size 1024x1024 xc:none \
  -fill '#12344d' -draw 'roundrectangle 0,0 1023,1023 180,180' \
  \( -size 1024x1024 xc:none -fill '#1f6f8b' -draw 'roundrectangle 0,0 1023,1023 180,180' \
     -alpha on -region 1024x512+0+0 -alpha transparent +region \) -composite \
  -fill none -stroke white -strokewidth 84 -draw 'circle 512,512 512,262' \
  -stroke none -fill white -draw 'rectangle 120,470 904,554' \
  -resize 256x256 -depth 8 -strip -define png:exclude-chunks=date,time images/icon.png
