// What a bot handles is made of these modules' types, and a bot imports BotKit alone: their members must come along.
@_exported public import Logging
@_exported public import Nostr
@_exported public import PikaCore
