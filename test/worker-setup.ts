import './compress-once.ts';
