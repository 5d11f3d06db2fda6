// Confluent.Kafka for {{account}}; the password is in the environment variable PARTNER_PASSWORD.
// dotnet new console && dotnet add package Confluent.Kafka, and put this file in place of Program.cs.
using System;
using System.Text;
using System.Threading;
using Confluent.Kafka;

static T Reached<T>(T config) where T : ClientConfig
{
    config.BootstrapServers = "{{bootstrap}}";
    config.ClientId = "{{account}}";
    config.SecurityProtocol = SecurityProtocol.SaslSsl;
    config.SaslMechanism = SaslMechanism.ScramSha512;
    config.SaslUsername = "{{account}}";
    config.SaslPassword = Environment.GetEnvironmentVariable("PARTNER_PASSWORD");
    config.SslCaLocation = "{{ca}}";
    config.AllowAutoCreateTopics = false;
    return config;
}

var producerConfig = Reached(new ProducerConfig
{
    Acks = Acks.All,
    EnableIdempotence = true,
    // As in Java; this client's own default puts the records of an order into another partition than other clients do.
    Partitioner = Partitioner.Murmur2Random,
});

var consumerConfig = Reached(new ConsumerConfig
{
    GroupId = "{{group}}",
    EnableAutoCommit = false,
    IsolationLevel = IsolationLevel.ReadCommitted,
    AutoOffsetReset = AutoOffsetReset.Earliest,
});

using var producer = new ProducerBuilder<string, byte[]>(producerConfig).Build();
using var consumer = new ConsumerBuilder<string, byte[]>(consumerConfig).Build();
using var stopping = new CancellationTokenSource();
Console.CancelKeyPress += (_, pressed) => { pressed.Cancel = true; stopping.Cancel(); };

consumer.Subscribe("{{requestTopic}}");
try
{
    while (true)
    {
        var result = consumer.Consume(stopping.Token);
        var type = result.Message.Headers.TryGetLastBytes("ce_type", out var bytes) ? Encoding.UTF8.GetString(bytes) : "";
        Console.WriteLine($"{result.Message.Key} {type} {result.Message.Value?.Length} bytes");
        // Answers go to {{responseTopic}} with producer.ProduceAsync. Commit behind your own transaction.
        consumer.Commit(result);
    }
}
catch (OperationCanceledException)
{
    consumer.Close();
}
