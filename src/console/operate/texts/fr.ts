/** Texts of "Operate" in French. */
import type { TextsOf } from '../../texts/en.ts';
import type { en } from './en.ts';

export const fr: TextsOf<typeof en> = {
  title: 'Exploitation',
  lead: 'Toute l’installation, tous comptes confondus. Cette page se met à jour toutes les 10 secondes.',
  recent: 'Porte sur les dernières 24 heures, au plus les {{max, number}} enregistrements les plus récents.',
  seconds: '{{value}} s',
  account: 'Compte',
  empty: 'Rien n’est en attente.',
  waiting: {
    title: 'Files d’attente et retards',
    what: 'Tâche',
    count: 'En attente',
    oldest: 'Plus ancien',
    pushes: 'Lots d’envois à enregistrer',
    setAside: 'Envois mis de côté après des échecs',
    events: 'Événements à transmettre',
    calculations: 'Calculs à exécuter',
    files: 'Fichiers à lire',
    webhooks: 'Messages de webhook à envoyer',
    mails: 'E-mails à envoyer',
  },
  roles: {
    title: 'Rôles',
    roles: 'Rôles d’un processus',
    connections: 'Connexions à la base de données',
    since: 'Connecté depuis',
    none: 'Aucune connexion à la base de données n’indique son rôle.',
  },
  runs: {
    title: 'Pool R',
    running: 'Scripts en cours',
    ended: 'Exécutions terminées',
    outcomes: '{{succeeded, number}} réussies, {{failed, number}} en échec',
    duration: 'Durée',
    percentiles: 'médiane {{median}} s, 95ᵉ centile {{p95}} s',
    wait: 'Attente médiane avant une exécution',
  },
  scripts: {
    title: 'Scripts les plus lents',
    variable: 'Variable',
    runs: 'Exécutions',
    mean: 'Durée moyenne',
    total: 'Durée totale',
    none: 'Aucun script ne s’est exécuté.',
  },
  accounts: {
    title: 'Comptes les plus actifs',
    pushes: 'Envois',
    readings: 'Relevés',
    rejected: 'Éléments rejetés',
    none: 'Aucun envoi et aucune exécution.',
  },
  storage: {
    title: 'Stockage par compte',
    points: 'Points',
    size: 'Sur disque',
    note: 'Mesuré il y a 10 minutes au plus, index compris.',
    measuring:
      'Pas de chiffres pour le moment : la mesure est en cours ou a échoué. Une mesure échouée est répétée après 10 minutes.',
    deleted: 'Variables supprimées',
    none: 'Aucun point n’est enregistré.',
  },
};
