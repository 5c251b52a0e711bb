/**
 * Starts the console: loads the texts, then opens the session, then renders the console. Renders nothing when the
 * browser leaves the page.
 */
import './shell/mantine.css';
import './shell/theme.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { openSession } from './session/sign-in.ts';
import { startTexts } from './texts/language.ts';

await startTexts();
const outcome = await openSession();
const place = document.getElementById('console');
if (place && outcome.kind !== 'leaving') createRoot(place).render(<App outcome={outcome} />);
