// Loaded in the head, before anything is drawn: a page that was switched to dark never flashes light.
import { applyTheme, readTheme } from './theme';

applyTheme(readTheme());
