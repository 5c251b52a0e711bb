/** Texts of "Operate" in German. */
import type { TextsOf } from '../../texts/en.ts';
import type { en } from './en.ts';

export const de: TextsOf<typeof en> = {
  title: 'Betrieb',
  lead: 'Die ganze Installation über alle Konten. Diese Seite aktualisiert sich alle 10 Sekunden.',
  recent: 'Letzte 24 Stunden, höchstens die neuesten {{max, number}} Einträge.',
  seconds: '{{value}} s',
  account: 'Konto',
  empty: 'Nichts wartet.',
  waiting: {
    title: 'Warteschlangen und Rückstand',
    what: 'Aufgabe',
    count: 'Wartend',
    oldest: 'Älteste',
    pushes: 'Zu speichernde Stapel von Pushes',
    setAside: 'Nach Fehlern zurückgestellte Pushes',
    events: 'Weiterzuleitende Ereignisse',
    calculations: 'Fällige Berechnungen',
    files: 'Zu lesende Dateien',
    webhooks: 'Fällige Webhook-Nachrichten',
    mails: 'Fällige E-Mails',
  },
  roles: {
    title: 'Rollen',
    roles: 'Rollen eines Prozesses',
    connections: 'Verbindungen zur Datenbank',
    since: 'Verbunden seit',
    none: 'Keine Datenbankverbindung nennt ihre Rolle.',
  },
  runs: {
    title: 'R-Pool',
    running: 'Laufende Skripte',
    ended: 'Beendete Läufe',
    outcomes: '{{succeeded, number}} erfolgreich, {{failed, number}} fehlgeschlagen',
    duration: 'Dauer',
    percentiles: 'Median {{median}} s, 95. Perzentil {{p95}} s',
    wait: 'Median der Wartezeit vor einem Lauf',
  },
  scripts: {
    title: 'Langsamste Skripte',
    variable: 'Variable',
    runs: 'Läufe',
    mean: 'Mittlere Dauer',
    total: 'Gesamtdauer',
    none: 'Es lief kein Skript.',
  },
  accounts: {
    title: 'Aktivste Konten',
    pushes: 'Pushes',
    readings: 'Messwerte',
    rejected: 'Abgelehnte Elemente',
    none: 'Keine Pushes und keine Läufe.',
  },
  storage: {
    title: 'Speicherplatz je Konto',
    points: 'Punkte',
    size: 'Belegt',
    note: 'Vor höchstens 10 Minuten gemessen, einschließlich Indizes.',
    measuring:
      'Zurzeit gibt es keine Zahlen: Der Speicherplatz wird gemessen, oder die Messung ist fehlgeschlagen. Eine fehlgeschlagene Messung wird nach 10 Minuten wiederholt.',
    deleted: 'Gelöschte Variablen',
    none: 'Es sind keine Punkte gespeichert.',
  },
};
