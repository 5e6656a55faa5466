'use strict';

const { setDefaultHighWaterMark } = require('node:stream');

// As another version of Node may have it: 16 KiB in 20, 64 KiB from 22 on.
setDefaultHighWaterMark(false, Number(process.env.HIGH_WATER_MARK));
