/** Texts of "Operate" in Dutch. */
import type { TextsOf } from '../../texts/en.ts';
import type { en } from './en.ts';

export const nl: TextsOf<typeof en> = {
  title: 'Beheer',
  lead: 'De hele installatie, over alle accounts. Deze pagina wordt elke 10 seconden bijgewerkt.',
  recent: 'Laatste 24 uur, hoogstens de nieuwste {{max, number}} regels.',
  seconds: '{{value}} s',
  account: 'Account',
  empty: 'Er wacht niets.',
  waiting: {
    title: 'Wachtrijen en achterstand',
    what: 'Taak',
    count: 'Wachtend',
    oldest: 'Oudste',
    pushes: 'Op te slaan batches van pushes',
    setAside: 'Na fouten opzijgezette pushes',
    events: 'Door te geven gebeurtenissen',
    calculations: 'Uit te voeren berekeningen',
    files: 'Te lezen bestanden',
    webhooks: 'Te versturen webhookberichten',
    mails: 'Te versturen e-mails',
  },
  roles: {
    title: 'Rollen',
    roles: 'Rollen van een proces',
    connections: 'Verbindingen met de database',
    since: 'Verbonden sinds',
    none: 'Geen databaseverbinding noemt zijn rol.',
  },
  runs: {
    title: 'R-pool',
    running: 'Lopende scripts',
    ended: 'Beëindigde runs',
    outcomes: '{{succeeded, number}} geslaagd, {{failed, number}} mislukt',
    duration: 'Duur',
    percentiles: 'mediaan {{median}} s, 95e percentiel {{p95}} s',
    wait: 'Mediane wachttijd voor een run',
  },
  scripts: {
    title: 'Traagste scripts',
    variable: 'Variabele',
    runs: 'Runs',
    mean: 'Gemiddelde duur',
    total: 'Totale duur',
    none: 'Er liep geen script.',
  },
  accounts: {
    title: 'Drukste accounts',
    pushes: 'Pushes',
    readings: 'Metingen',
    rejected: 'Geweigerde elementen',
    none: 'Geen pushes en geen runs.',
  },
  storage: {
    title: 'Opslag per account',
    points: 'Punten',
    size: 'Op schijf',
    note: 'Hoogstens 10 minuten geleden gemeten, inclusief indexen.',
    measuring:
      'Er zijn nu geen cijfers: de opslag wordt gemeten of de meting is mislukt. Een mislukte meting wordt na 10 minuten herhaald.',
    deleted: 'Verwijderde variabelen',
    none: 'Er zijn geen punten opgeslagen.',
  },
};
