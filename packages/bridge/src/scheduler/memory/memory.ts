import { Countdown } from '../countdown.js';
import { Expectations } from '../expectations.js';
import { Listeners } from '../listeners.js';
import { Losses } from '../losses.js';
import type { Clock } from '../clock.js';
import type { SchedulerSettings } from '../scheduler-settings.js';
import type { CallRecord, HeldLease } from './call-record.js';
import { forget, leaseEnded, placeEnded, reservationLapsed } from './expiry.js';
import { KeptResults, keptCharacters } from './kept-results.js';
import { pauseEnded } from './pausing.js';
import type { KeptPlace, Stop, WorkerRecord } from './worker-record.js';

/** All that a memory store knows, and its six kinds of time. */
export class Memory {
  readonly clock: Clock;
  readonly settings: SchedulerSettings;
  readonly workers = new Map<string, WorkerRecord>();
  readonly calls = new Map<string, CallRecord>();
  readonly callListeners = new Listeners();
  readonly workerListeners = new Listeners();
  readonly expectations = new Expectations();
  readonly losses = new Losses();
  readonly results = new KeptResults(keptCharacters, (record) => {
    this.ended.remove(record);
    forget(this, record);
  });

  readonly reservations: Countdown<CallRecord>;
  readonly leases: Countdown<HeldLease>;
  readonly places: Countdown<KeptPlace>;
  readonly pauses: Countdown<CallRecord>;
  readonly stops: Countdown<Stop>;
  readonly ended: Countdown<CallRecord>;

  constructor(clock: Clock, settings: SchedulerSettings) {
    this.clock = clock;
    this.settings = settings;
    this.reservations = new Countdown(clock, settings.fetchWithinMs, (record) => {
      reservationLapsed(this, record);
    });
    this.leases = new Countdown(clock, settings.leaseTtlMs, (lease) => {
      leaseEnded(this, lease);
    });
    this.places = new Countdown(clock, settings.placeKeptMs, (place) => {
      placeEnded(this, place);
    });
    this.pauses = new Countdown(clock, settings.pausedMs, (record) => {
      pauseEnded(this, record);
    });
    this.stops = new Countdown(clock, settings.leaseTtlMs, (stop) => {
      stop.worker.stops.delete(stop);
    });
    this.ended = new Countdown(clock, settings.endRememberedMs, (record) => {
      forget(this, record);
    });
  }

  close(): void {
    const { reservations, leases, places, pauses, stops, ended } = this;
    for (const countdown of [reservations, leases, places, pauses, stops, ended]) countdown.close();
    this.callListeners.close();
    this.workerListeners.close();
    this.expectations.close();
  }
}
