import './site.css';
import './program.css';
import { makeRoom } from './make-room.ts';
import { parseRoute } from './page-route.ts';

// What runs before anything is shown: it makes room for the view that the address names. The program itself comes after.

const route = parseRoute(location.hash);
if (route !== null && route.view !== 'moved') makeRoom(route);
void import('./main.ts');
